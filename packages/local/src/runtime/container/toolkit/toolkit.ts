import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { agentMain, codeCache, placeAgent } from "../../bubblewrap/agent-files.js";
import { dynamicLoader, sharedLibraries } from "../../bubblewrap/host-files/loader.js";
import { InstanceDirectory } from "../../host/instance-directory.js";
import { fallbackScripts } from "../../search-path.js";
import { inside, opt } from "../paths.js";
import { programLauncher } from "./program-launcher.js";
import { nodeFromRegistry } from "./registry-node.js";
import type { TarEntry } from "./tar-entries.js";

const oldestNode = 20;

/**
 * The files that a machine needs besides its image: a Node.js that runs there, the agent, and the supervisor that starts
 * it.
 */
export interface Toolkit extends MachineCommands {
  readonly digest: string;
  readonly entries: readonly TarEntry[];
}

export interface MachineCommands {
  /** The command of a container. */
  readonly machine: readonly string[];
  /** The command of a container whose kernel has no securebits. Its agent starts programs with `inside.launcher`. */
  readonly machineOfGvisor: readonly string[];
  /** The command that starts the agent. */
  readonly agent: readonly string[];
}

/** The programs that start the agent: files to put into the image, and the words that call them. */
interface Programs {
  readonly entries: readonly TarEntry[];
  readonly node: readonly string[];
  readonly nodeVersion: string;
  readonly setpriv: readonly string[];
  /** Whether V8's code cache of this process's Node.js is of use. */
  readonly isOwnNode: boolean;
}

/** Programs of an image that the agent can use. */
export interface FoundPrograms {
  /** The path of util-linux's `setpriv`; undefined if there is none, or only BusyBox's, which does less. */
  readonly setpriv?: string | undefined;
  readonly node?: { readonly path: string; readonly version: string } | undefined;
  /** Whether a Node.js from elsewhere runs there: it needs glibc and libstdc++. */
  readonly runsForeignNode: boolean;
}

/** The image that a toolkit is for. */
export interface ToolkitTarget {
  readonly name: string;
  /** The processor that it is for, in the words of Node.js. */
  readonly arch: string;
  readonly found: FoundPrograms;
  readonly log: (message: string) => void;
}

/** Collects the toolkit for an image. Throws an error that says which image would do if there is no Node.js for this one. */
export async function collectToolkit(target: ToolkitTarget): Promise<Toolkit> {
  const programs = (await ownPrograms(target.arch)) ?? (await programsOf(target));
  const { node, setpriv, isOwnNode } = programs;
  const options = nodeOptions(programs.nodeVersion);
  const hasNode = programs.entries.some(({ path }) => path.endsWith("/bin/node"));
  const entries: TarEntry[] = [
    ...["", "lib", "bin", "agent", "empty", "run", "fallbacks"].map(directory),
    ...programs.entries,
    ...(await agentEntries(isOwnNode)),
    ...["supervisor.cjs", "bridge.cjs"].map((name) =>
      file(name, fileURLToPath(new URL(`./machine/${name}`, import.meta.url))),
    ),
    text("openssl.cnf", ""),
    ...(target.arch === "x64"
      ? [{ path: inside.launcher.slice(1), mode: 0o755, file: programLauncher() }]
      : []),
    ...Object.entries(fallbackScripts).map(([name, script]) => text(`fallbacks/${name}`, script, 0o755)),
    ...(hasNode ? [{ path: `${inside.fallbacks.slice(1)}/node`, mode: 0o777, link: "../bin/node" }] : []),
  ];
  const digest = createHash("sha256");
  for (const { path, mode, file: content = "", link = "" } of entries)
    digest.update(`${path} ${mode} ${content.length} ${link}\n`).update(content);
  const supervisor = [...node, ...options, `${opt}/supervisor.cjs`];
  return {
    digest: digest.digest("hex"),
    entries,
    // `setpriv` gives up all capabilities but two, with which the agent starts programs as another uid, and sees to it that
    // those programs inherit none.
    machine: [
      ...setpriv,
      ...["--securebits", "+no_setuid_fixup,+no_setuid_fixup_locked"],
      ...["--inh-caps", "-all", "--ambient-caps", "-all", "--bounding-set", "-all,+setuid,+setgid"],
      ...supervisor,
    ],
    machineOfGvisor: supervisor,
    agent: [...node, ...options, `${opt}/agent/${agentMain}`],
  };
}

/**
 * Keeps code from controlling the Node.js of the agent and of its supervisor, as the options of bubblewrap's machines do:
 * no inspector, and no configuration of OpenSSL that the image could bring.
 */
function nodeOptions(version: string): string[] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const canIgnoreSignal = major > 23 || (major === 23 && minor >= 7) || (major === 22 && minor >= 14);
  return [
    ...(canIgnoreSignal ? ["--disable-sigusr1"] : []),
    "--inspect-port=192.0.2.1:9777",
    `--openssl-config=${opt}/openssl.cnf`,
  ];
}

/**
 * The programs of this machine, with their dynamic loader and libraries, so that they run in an image with another C library,
 * or with none. Undefined if they do not run there: this machine has another processor or no Linux, or no `setpriv`.
 */
async function ownPrograms(arch: string): Promise<Programs | undefined> {
  if (process.platform !== "linux" || arch !== process.arch) return undefined;
  const node = realpathSync(process.execPath);
  const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path));
  const loader = dynamicLoader(node);
  if (setpriv === undefined || loader === undefined || dynamicLoader(setpriv) !== loader) return undefined;
  const programs = { node, setpriv };
  const found = await Promise.all(Object.values(programs).map((program) => sharedLibraries(loader, program)));
  const libraries = new Map(found.flat().map((path) => [basename(path), path]));
  const loading = [`${opt}/loader`, "--library-path", `${opt}/lib`];
  return {
    entries: [
      // gVisor executes only what can be read.
      file("loader", realpathSync(loader), 0o555),
      ...[...libraries].map(([name, path]) => file(`lib/${name}`, path)),
      ...Object.entries(programs).map(([name, path]) => file(`bin/${name}`, path, 0o755)),
    ],
    node: [...loading, `${opt}/bin/node`],
    nodeVersion: process.versions.node,
    setpriv: [...loading, `${opt}/bin/setpriv`],
    isOwnNode: true,
  };
}

/** The image's own `setpriv`, and its own Node.js or one from the npm registry. */
async function programsOf({ name, arch, found, log }: ToolkitTarget): Promise<Programs> {
  const { node, runsForeignNode, setpriv } = found;
  const machine = `The agent needs programs for linux/${arch}, and this machine has ${process.platform}/${process.arch}`;
  if (setpriv === undefined)
    throw new Error(
      `${machine}; the image ${name} lacks setpriv: add it (the package util-linux, on Alpine setpriv), or name an image of Debian or Ubuntu, such as python:3.12-slim`,
    );
  const rest = { setpriv: [setpriv], isOwnNode: false };
  if (node && Number.parseInt(node.version, 10) >= oldestNode)
    return { ...rest, entries: [], node: [node.path], nodeVersion: node.version };
  if (!runsForeignNode)
    throw new Error(
      `${machine}; the image ${name} has no Node.js ${oldestNode} or newer, and one from the npm registry does not run there, because it needs glibc and libstdc++: add Node.js to the image, or name one of Debian or Ubuntu, such as python:3.12-slim`,
    );
  const binary = await nodeFromRegistry(arch, log).catch((error: Error) => {
    throw new Error(
      `${machine}; the image ${name} has no Node.js ${oldestNode} or newer, and ${error.message}: mend that, or name an image with Node.js, such as node:22-slim`,
      { cause: error },
    );
  });
  const entries = [{ path: `${opt.slice(1)}/bin/node`, mode: 0o755, file: binary }];
  return { ...rest, entries, node: [`${opt}/bin/node`], nodeVersion: process.versions.node };
}

const file = (path: string, source: string, mode = 0o644): TarEntry => ({
  path: `${opt.slice(1)}/${path}`,
  mode,
  file: readFileSync(source),
});

const text = (path: string, content: string, mode = 0o644): TarEntry => ({
  path: `${opt.slice(1)}/${path}`,
  mode,
  file: content,
});

const directory = (path: string): TarEntry => ({ path: `${opt.slice(1)}/${path}`, mode: 0o755 });

async function agentEntries(withCache: boolean): Promise<TarEntry[]> {
  const { path: directory, remove } = await InstanceDirectory.createPrivate();
  try {
    const agent = join(directory, "agent");
    await placeAgent(agent, join(directory, "warm-up"));
    const names = (await readdir(agent)).filter((name) => withCache || name !== codeCache).sort();
    return await Promise.all(
      names.map(async (name) => ({
        path: `${opt.slice(1)}/agent/${name}`,
        mode: 0o644,
        file: await readFile(join(agent, name)),
      })),
    );
  } finally {
    await remove();
  }
}
