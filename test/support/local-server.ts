import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const dist = fileURLToPath(new URL("../../packages/local/dist", import.meta.url));
/** The uid of an ordinary user: no account has it, and no file belongs to it. */
const ordinaryUid = "54321";

export interface LocalServer {
  readonly url: string;
  readonly apiKey: string;
  readonly pid: number;
  readonly isolation: string;
  readonly log: () => string;
  /** Asks the server to stop, and waits until it has. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Why a server cannot be started as `who` here, or undefined when it can. */
export function cannotStartAs(who: StartedBy): string | undefined {
  return who === "root" && process.getuid?.() !== 0 ? "these tests were not started by root" : undefined;
}

export type StartedBy = "root" | "an ordinary user";

/** Starts the built server in a process of its own, as people do. */
export async function startLocalServer(
  options: {
    who?: StartedBy;
    apiKey?: string;
    args?: readonly string[];
    env?: Record<string, string>;
    /** A command to start the server with. It must `exec` the words after it. */
    through?: readonly string[];
  } = {},
): Promise<LocalServer> {
  const dropsUid = options.who === "an ordinary user" && process.getuid?.() === 0;
  // Copy the build: the checkout may be in a directory that only root can read.
  const home = dropsUid ? await mkdtemp(join(tmpdir(), "ordinary-user-")) : undefined;
  if (home !== undefined) await cp(dist, home, { recursive: true });
  const apiKey = options.apiKey ?? "test-key";
  const command = [
    ...(options.through ?? []),
    ...(dropsUid ? ["setpriv", "--reuid", ordinaryUid, "--regid", ordinaryUid, "--clear-groups"] : []),
    ...(home === undefined ? [] : ["sh", "-c", 'umask 022; exec "$@"', "server"]),
    process.execPath,
    join(home ?? dist, "main.js"),
    ...["serve", "--port", "0", "--api-key", apiKey, "--json"],
    ...(options.args ?? []),
  ];
  if (home !== undefined) await makeReadable(home);
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: "/",
    env: { PATH: process.env.PATH, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // End the server with this process, so that a test that fails half-way leaves no server behind.
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    log += chunk;
  });
  const exited = once(child, "exit").then(async ([code, signal]) => {
    process.off("exit", kill);
    if (home !== undefined) await rm(home, { recursive: true, force: true });
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  const line = await firstLine(child, () => log);
  const ready = JSON.parse(line) as { url: string; api_key: string; isolation: string };
  return {
    url: ready.url,
    apiKey: ready.api_key,
    pid: child.pid ?? 0,
    isolation: ready.isolation,
    log: () => log,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
  };
}

async function makeReadable(directory: string): Promise<void> {
  await once(spawn("chmod", ["-R", "a+rX", directory]), "exit");
}

function firstLine(child: ChildProcess, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      if (output.includes("\n")) resolve(output.slice(0, output.indexOf("\n")));
    });
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`The server ended before it was ready: ${log()}`)));
  });
}
