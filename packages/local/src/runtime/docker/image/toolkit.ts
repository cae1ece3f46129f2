import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { agentMain, placeAgent } from "../../bubblewrap/agent-files.js";
import { dynamicLoader, sharedLibraries } from "../../bubblewrap/host-files/loader.js";
import { InstanceDirectory } from "../../host/instance-directory.js";
import { substituteScripts } from "../../search-path.js";
import type { TarEntry } from "./tar-entries.js";

const opt = "/opt/cloud-sandbox";

/** Paths of the toolkit inside a machine. All are on the read-only root, but for `run`, which only root may write. */
export const inside = {
  run: `${opt}/run`,
  agentSocket: `${opt}/run/agent/socket`,
  egressSocket: `${opt}/run/egress`,
  nodePreload: `${opt}/agent/node-proxy.cjs`,
  noFiles: `${opt}/empty`,
  substitutes: `${opt}/substitutes`,
  home: "/home/sandbox",
} as const;

/** The uid and gid of the user's programs. The agent's is 0, without any capability but to start programs as this uid. */
export const codeUid = 1000;

const loading = [`${opt}/loader`, "--library-path", `${opt}/lib`];

/**
 * Keeps code from controlling the Node.js of the agent and of its supervisor, as the options of bubblewrap's machines do:
 * no inspector, and no configuration of OpenSSL that the image could bring.
 */
const nodeOptions = [
  ...(process.allowedNodeEnvironmentFlags.has("--disable-sigusr1") ? ["--disable-sigusr1"] : []),
  "--inspect-port=192.0.2.1:9777",
  `--openssl-config=${opt}/openssl.cnf`,
];

/** The command that starts the agent. */
export const agentCommand = [...loading, `${opt}/bin/node`, ...nodeOptions, `${opt}/agent/${agentMain}`];

/**
 * The command of a container. `setpriv` gives up all capabilities but two, with which the agent starts programs as another
 * uid, and sees to it that those programs inherit none.
 */
export const machineCommand = [
  ...[...loading, `${opt}/bin/setpriv`],
  ...["--securebits", "+no_setuid_fixup,+no_setuid_fixup_locked"],
  ...["--inh-caps", "-all", "--ambient-caps", "-all", "--bounding-set", "-all,+setuid,+setgid"],
  ...[...loading, `${opt}/bin/node`, ...nodeOptions, `${opt}/supervisor.cjs`],
];

/** What a machine needs besides its image: a Node.js that runs there, the agent, and the supervisor that starts it. */
export interface Toolkit {
  readonly digest: string;
  readonly entries: readonly TarEntry[];
}

/**
 * Collects the toolkit from this machine. Node.js comes with its own dynamic loader and libraries, so that it runs in an
 * image with another C library, or with none.
 */
export async function collectToolkit(): Promise<Toolkit> {
  const node = realpathSync(process.execPath);
  const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path));
  if (setpriv === undefined)
    throw new Error('setpriv is not installed; install it with "apt-get install util-linux"');
  const loader = dynamicLoader(node);
  if (loader === undefined || dynamicLoader(setpriv) !== loader)
    throw new Error(
      "this Node.js is a static program, or has another C library than the programs of this system",
    );
  const programs = { node, setpriv };
  const found = await Promise.all(Object.values(programs).map((program) => sharedLibraries(loader, program)));
  const libraries = new Map(found.flat().map((path) => [basename(path), path]));
  const file = (path: string, source: string, mode = 0o644): TarEntry => ({
    path: `${opt.slice(1)}/${path}`,
    mode,
    file: readFileSync(source),
  });
  const directory = (path: string): TarEntry => ({ path: `${opt.slice(1)}/${path}`, mode: 0o755 });
  const text = (path: string, content: string, mode = 0o644): TarEntry => ({
    path: `${opt.slice(1)}/${path}`,
    mode,
    file: content,
  });
  const entries: TarEntry[] = [
    ...["", "lib", "bin", "agent", "empty", "run", "substitutes"].map(directory),
    // It can be executed but not read: the kernel then shields the memory of the programs that it starts.
    file("loader", realpathSync(loader), 0o111),
    ...[...libraries].map(([name, path]) => file(`lib/${name}`, path)),
    ...Object.entries(programs).map(([name, path]) => file(`bin/${name}`, path, 0o755)),
    ...(await agentEntries()),
    file("supervisor.cjs", fileURLToPath(new URL("./machine/supervisor.cjs", import.meta.url))),
    text("openssl.cnf", ""),
    ...Object.entries(substituteScripts).map(([name, script]) => text(`substitutes/${name}`, script, 0o755)),
    { path: `${inside.substitutes.slice(1)}/node`, mode: 0o777, link: "../bin/node" },
  ];
  const digest = createHash("sha256");
  for (const { path, mode, file: content = "", link = "" } of entries)
    digest.update(`${path} ${mode} ${content.length} ${link}\n`).update(content);
  return { digest: digest.digest("hex"), entries };
}

async function agentEntries(): Promise<TarEntry[]> {
  const place = await InstanceDirectory.createPrivate();
  try {
    const agent = join(place, "agent");
    await placeAgent(agent, join(place, "rehearsal"));
    const names = (await readdir(agent)).sort();
    return await Promise.all(
      names.map(async (name) => ({
        path: `${opt.slice(1)}/agent/${name}`,
        mode: 0o644,
        file: await readFile(join(agent, name)),
      })),
    );
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
