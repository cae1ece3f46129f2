import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AuthorityFiles } from "@cloud-sandbox/server-kit/execution";
import { placeHomeFiles } from "../host/home-files.js";
import type { Mount } from "../host/mount.js";
import type { RuntimeOptions } from "../runtime-options.js";
import { searchPath, writeFallbacks } from "../search-path.js";
import { agentMain, nodeProxy, placeAgent, placeNodeProxy } from "./agent-files.js";
import { authoritiesInside, placeAuthorities } from "./host-files/authority-files.js";
import { mountPoints } from "./host-files/host-views.js";
import { dynamicLoader, libraryDirectories } from "./host-files/loader.js";
import { maskedKernelFiles } from "./host-files/masked-kernel-files.js";
import { makeEtc, makeReachable } from "./host-files/synthetic-etc.js";
import { placeDrivers } from "./program-drivers.js";
import { separation } from "./user-namespace.js";
import type { MachineDisk, WritableRoot } from "./writable-root.js";

/** The files that all machines of this instance share. They hold no secret. */
export interface MachineImage {
  /** The writable root, as {@link WritableRoot} mounts it. Undefined if machines have a read-only root. */
  readonly disk: MachineDisk | undefined;
  /** Read-only mounts of host files. */
  readonly mounts: readonly Mount[];
  /** Empty files and directories, mounted read-only over files in `/proc` that tell about the host. */
  readonly masks: readonly Mount[];
  /** Symbolic links at the root, such as `/bin` to `usr/bin`. */
  readonly links: readonly { readonly target: string; readonly path: string }[];
  /** Search path for programs. */
  readonly path: string;
  /** Files of authorities that programs trust beside their own. Undefined if this host has none of its own. */
  readonly authorities: AuthorityFiles | undefined;
  /** The directory with the files that each home directory begins with. Undefined if there are none. */
  readonly homeFiles: string | undefined;
  /** The name of the user who runs programs. */
  readonly user: string;
  /** The init with its arguments, the last of which is the agent's main file. */
  readonly command: readonly string[];
  /** The same if the machine's bubblewrap already gives the agent exactly what it needs, because code is root inside. */
  readonly commandForRoot: readonly string[];
}

const opt = "/opt/cloud-sandbox";

/** The agent's main file inside a machine, where nobody can change it. */
export const agentEntry = `${opt}/agent/${agentMain}`;

/** The drivers of programs that run without an agent, inside a machine, and what Node.js loads in all programs. */
export const driversInside = `${opt}/drivers`;

/** The egress proxy's socket inside a machine, and the script that makes the `fetch` of older Node.js use the proxy. */
export const egressInside = {
  socket: `${opt}/egress`,
  nodePreload: `${driversInside}/${nodeProxy}`,
  // Contexts of JavaScript need a later version anyway.
  importsPreload: true,
} as const;

export interface MachineImages {
  /** For machines that see the host's `/usr`. */
  readonly image: MachineImage;
  /** For machines of an imported image, which see no file of the host but the agent's. Undefined if they cannot be started. */
  readonly importedImage: MachineImage | undefined;
  /** For programs without an agent: without the mounts that keep code from replacing what the agent is started from. */
  readonly programImage: MachineImage;
  /** An image whose programs trust the egress proxy's authority too, which is a certificate in PEM. It stays the same. */
  readonly trusting: (image: MachineImage, authority: string) => MachineImage;
  /** Puts the agent where the images have it. The first machine needs that; programs without an agent never do. */
  readonly placeAgent: () => Promise<void>;
}

/**
 * Prepares the images in `directory`, with synchronous calls: handing each of a hundred short ones to another thread would take
 * longer than the call. With `hasOwnUids`, machines have other uids than this process: every uid must be able to
 * read the files, and the agent has another uid than the programs it starts.
 */
export async function prepareMachineImage(
  directory: string,
  hasOwnUids: boolean,
  root: WritableRoot | undefined,
  { authorities = "", homeFiles = {} }: RuntimeOptions,
): Promise<MachineImages> {
  const parts = join(directory, "parts");
  mkdirSync(parts);
  let agentPlaced: Promise<void> | undefined;
  let trusted: readonly Mount[] | undefined;
  const node = await placeNode(parts, hasOwnUids);
  const shell = realpathSync("/bin/sh");
  const setpriv = hasOwnUids ? programOf("setpriv") : undefined;
  const started = [process.execPath, shell, ...(setpriv ? [setpriv] : [])];
  const launcher = await placeLoader(parts, started, root !== undefined);
  writeFallbacks(parts);
  if (root) placeAptAdvice(parts, opt, join(root.skeleton, "../usr"));
  await placeDrivers(join(parts, "drivers"), searchPath(node.path));
  placeNodeProxy(join(parts, "drivers"));
  // The mount point of each machine's egress socket.
  writeFileSync(join(parts, "egress"), "");
  writeFileSync(join(parts, "init"), initScript);
  writeFileSync(opensslConfiguration(parts), "");
  const nothing = join(parts, "nothing");
  writeFileSync(nothing, "");
  const { shared, sealed: sealedEtc } = makeEtc(
    root ? join(root.skeleton, "etc") : join(directory, "etc"),
    root && parts,
  );
  const hasHomeFiles = Object.keys(homeFiles).length > 0;
  if (hasHomeFiles) placeHomeFiles(join(parts, "home"), homeFiles);
  const empty = join(parts, "empty");
  mkdirSync(empty);
  const programs = root
    ? [
        ...new Set([
          ...[shell, node.path, ...(setpriv ? [setpriv] : [])].map(dirname),
          ...launcher.directories,
        ]),
      ]
    : [];
  const seals = programs.filter((path) => path.startsWith("/usr/"));
  for (const path of seals) makeReachable(parts, path);
  const configurations = [
    ...["/usr/local/etc", "/usr/etc"].filter(existsSync),
    ...(node.mount && existsSync(join(node.mount.source, "etc")) ? [join(node.mount.target, "etc")] : []),
  ];
  // The umask may keep the sandboxes' uids from reading the new files.
  for (const path of [parts, empty, join(parts, "init"), nothing, opensslConfiguration(parts)])
    chmodSync(path, 0o755);
  const roots = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"].filter((name) => existsSync(`/${name}`));
  const isLink = (name: string): boolean => lstatSync(`/${name}`).isSymbolicLink();
  const links = roots.filter(isLink).map((name) => ({ target: readlinkSync(`/${name}`), path: `/${name}` }));
  const protectedPath = (program: string): string => (root ? sealed(program) : program);
  if (root) for (const { target, path } of links) symlinkSync(target, join(root.skeleton, path));
  const interpreters = [{ source: parts, target: opt }, ...(node.mount ? [node.mount] : [])];
  // Only the agent's: programs without one are started before code can change anything.
  const agentSeals = [
    ...seals.map((path) => ({ source: path, target: sealed(path) })),
    ...(root && isOfDebian && existsSync(nodeParts) ? [{ source: nodeParts, target: nodeParts }] : []),
  ];
  const common = [
    ...(root ? mountsBelow("/usr") : [{ source: "/usr", target: "/usr" }]),
    ...roots.filter((name) => !isLink(name)).map((name) => ({ source: `/${name}`, target: `/${name}` })),
    ...shared,
    ...placeAuthorities(parts, authorities, "authorities"),
    ...sealedEtc,
    ...interpreters,
    // Cover these paths with an empty file or directory, because programs of the host keep credentials there.
    ...configurations.map((target) => ({ source: empty, target })),
  ];
  const masked = maskedKernelFiles();
  const real = ({ source, target }: Mount): Mount => ({ source: realpathSync(source), target });
  const init = [
    ...[...launcher.command, protectedPath(shell), `${opt}/init`],
    // The instance directory is on the machine's command line, so that the machines of a killed server can be found.
    directory,
    ...[...launcher.command, protectedPath(node.path), ...nodeOptions, agentEntry],
  ];
  const image: MachineImage = {
    disk: root?.disk,
    mounts: [...common, ...agentSeals].map(real),
    masks: [
      ...masked.files.map((target) => real({ source: nothing, target })),
      ...masked.directories.map((target) => real({ source: empty, target })),
    ],
    links: root ? [] : links,
    path: searchPath(node.path),
    authorities: authorities === "" ? undefined : authoritiesInside(opt, "authorities"),
    homeFiles: hasHomeFiles ? `${opt}/home` : undefined,
    user: "sandbox",
    command: [...(setpriv ? [...launcher.command, protectedPath(setpriv), ...separation] : []), ...init],
    commandForRoot: init,
  };
  const canStartImages = root !== undefined && launcher.command.length > 0;
  return {
    image,
    // Whatever else a machine sees, its init and its agent are started from these.
    importedImage: canStartImages
      ? { ...image, mounts: [...sealedEtc, ...interpreters, ...agentSeals].map(real), path: imagePath }
      : undefined,
    programImage: { ...image, mounts: common.map(real) },
    trusting: (plain, authority) => {
      trusted ??= placeAuthorities(parts, authorities + authority, "authorities-with-proxy").map(real);
      const replaced = new Set(trusted.map(({ target }) => target));
      // An imported image has none of the host's files, and may have none at these paths.
      const hasSystem = plain.mounts.some(({ target }) => target === "/etc/ssl/certs");
      const others = plain.mounts.filter(({ target }) => !replaced.has(target));
      return {
        ...plain,
        authorities: authoritiesInside(opt, "authorities-with-proxy"),
        mounts: hasSystem ? [...others, ...trusted] : plain.mounts,
      };
    },
    placeAgent: () => {
      agentPlaced ??= placeAgent(join(parts, "agent"), join(directory, "warm-up")).catch((error) => {
        agentPlaced = undefined;
        throw error;
      });
      return agentPlaced;
    },
  };
}

/** The search path of images that set none, as in any container. */
const imagePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Sets the limits that the variables of `limitVariables` name, in a shell. */
export const limitsScript = `ulimit -n "$MACHINE_FILES"
ulimit -d "$MACHINE_MEMORY_KB"
ulimit -u "$MACHINE_PROCESSES" 2>/dev/null || ulimit -p "$MACHINE_PROCESSES"
unset MACHINE_MEMORY_KB MACHINE_PROCESSES MACHINE_FILES
`;

/**
 * Process 1 of a machine. Code inside cannot kill it. It reaps orphans and restarts an agent that was killed. The agent
 * inherits its listening socket from it, so no other process can take the agent's place.
 */
const initScript = `shift
${limitsScript}starts=0
while [ "$starts" -lt 100 ]; do
  starts=$((starts + 1))
  "$@"
done
`;

/**
 * Keeps the agent from reading time zone files: code in the machine can replace one with a pipe, which would block the agent
 * forever. TZDIR is an empty directory. Without these variables Node.js reads all of `/usr/share/zoneinfo` at each start.
 */
export const agentTimeZone = { TZ: "UTC", TZDIR: `${opt}/empty` } as const;

/** Debian's Node.js loads some of its own modules from here at each start. Other builds have all of them in the program. */
const nodeParts = "/usr/share/nodejs";
const { node_builtin_shareable_builtins: included = [] } = process.config.variables as {
  readonly node_builtin_shareable_builtins?: readonly string[];
};
const isOfDebian = !included.includes("deps/undici/undici.js");

const opensslConfiguration = (parts: string): string => join(parts, "openssl.cnf");

/**
 * Keeps code of the same uid from controlling the agent's Node.js. SIGUSR1 would start the inspector; the inspector then
 * fails to listen, because no machine has its address (RFC 5737), even before Node.js has set a signal handler. OpenSSL loads
 * libraries that its configuration names into the process, so the agent has a configuration of its own.
 *
 * V8 flags must not be added: with any of them Node.js cannot use its built-in code cache, and starts half as fast.
 */
const nodeOptions = [
  // Node.js 20 has no such option, and takes a millisecond to list those that it has.
  ...(!/^v20\./.test(process.version) && process.allowedNodeEnvironmentFlags.has("--disable-sigusr1")
    ? ["--disable-sigusr1"]
    : []),
  "--inspect-port=192.0.2.1:9777",
  `--openssl-config=${opensslConfiguration(opt)}`,
];

/** The real path of a program of the host. */
function programOf(name: string): string {
  const directories = [...(process.env.PATH ?? "").split(":"), "/usr/bin", "/bin"];
  const path = directories.map((directory) => join(directory, name)).find((file) => existsSync(file));
  if (path === undefined)
    throw new Error(`${name} is not installed. Install it, or add its directory to PATH.`);
  return realpathSync(path);
}

/** The path inside a machine of a read-only mount of a program in the host's `/usr`. Other paths are returned unchanged. */
function sealed(path: string): string {
  return path.startsWith("/usr/") ? opt + path : path;
}

/**
 * The dynamic loader that starts the init and the agent; empty on hosts where programs have different loaders. If machines
 * can change their `/usr`, the loader reads programs and libraries from read-only mounts, so code cannot replace the agent.
 */
async function placeLoader(
  parts: string,
  programs: readonly string[],
  isSealed: boolean,
): Promise<{ command: readonly string[]; directories: readonly string[] }> {
  const [loader, ...others] = programs.map(dynamicLoader);
  if (loader === undefined || others.some((other) => other !== loader))
    return { command: [], directories: [] };
  const copy = join(parts, "loader");
  copyFileSync(loader, copy);
  chmodSync(copy, 0o111);
  if (!isSealed) return { command: [`${opt}/loader`], directories: [] };
  const directories = await libraryDirectories(loader, programs);
  const libraryPath = directories.map(sealed).join(":");
  // The cache is the machine's, and an image has another one than this host. musl has none.
  const cache = loader.includes("musl") ? [] : ["--inhibit-cache"];
  return { command: [`${opt}/loader`, ...cache, "--library-path", libraryPath], directories };
}

/** File systems mounted below `directory`, which an overlay over it would not show. */
function mountsBelow(directory: string): Mount[] {
  return mountPoints()
    .filter((file) => file.startsWith(`${directory}/`))
    .map((file) => ({ source: file, target: file }));
}

/** The path of Node.js inside a machine. Outside `/usr`, its installation is mounted or the program is copied. */
async function placeNode(parts: string, forOtherUids: boolean): Promise<{ path: string; mount?: Mount }> {
  const program = realpathSync(process.execPath);
  if (program.startsWith("/usr/")) return { path: program };
  const installation = dirname(dirname(program));
  const isInstallation = existsSync(join(installation, "lib", "node_modules"));
  if (isInstallation && (!forOtherUids || isReachableForAll(program))) {
    return { path: "/opt/node/bin/node", mount: { source: installation, target: "/opt/node" } };
  }
  mkdirSync(join(parts, "bin"));
  // Asynchronously: it has 125 MB.
  await copyFile(program, join(parts, "bin", "node"), constants.COPYFILE_FICLONE);
  chmodSync(join(parts, "bin", "node"), 0o755);
  return { path: `${opt}/bin/node` };
}

function isReachableForAll(path: string): boolean {
  for (let at = dirname(path); at !== "/"; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
  }
  return (statSync(path).mode & 0o005) === 0o005;
}

/**
 * Puts scripts in place of `apt-get` and `apt` that say, when one fails, that code is not root and what would help. They run
 * copies of the programs in `parts`. `usr` is the skeleton of machines in which code is not root.
 */
function placeAptAdvice(parts: string, opt: string, usr: string): void {
  const directory = join(parts, "apt");
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  // The rest of the skeleton is made meanwhile, which may not have come to this directory.
  mkdirSync(join(usr, "bin"), { recursive: true });
  chmodSync(join(usr, "bin"), 0o777);
  for (const name of ["apt-get", "apt"].filter((each) => existsSync(`/usr/bin/${each}`))) {
    copyFileSync(`/usr/bin/${name}`, join(directory, name));
    writeFileSync(join(usr, "bin", name), script(name, `${opt}/apt/${name}`));
    for (const path of [join(directory, name), join(usr, "bin", name)]) chmodSync(path, 0o755);
  }
}

const script = (name: string, program: string): string => `#!/bin/sh
${program} "$@"
code=$?
[ "$code" = 0 ] || echo "${name}: system packages need root, which code in this sandbox is not. Start the server as root with --root-inside, or install with pip or npm." >&2
exit "$code"
`;
