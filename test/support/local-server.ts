import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { ordinaryUid } from "./ordinary-user-caches.js";

const dist = fileURLToPath(new URL("../../packages/local/dist", import.meta.url));

// Vitest leaves its workers behind, and they their servers, when it is killed itself. Then the channel to it is closed.
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));

/**
 * Starts a command that the kernel kills when the process that started it ends, so that a test that fails half-way leaves no
 * server behind. A listener for the end of the process would not do: Vitest ends its workers with a signal.
 */
export const killedWithParent = ["setpriv", "--pdeathsig", "KILL"] as const;

export interface LocalServer {
  readonly url: string;
  readonly apiKey: string;
  readonly pid: number;
  readonly isolation: string;
  readonly log: () => string;
  /** Sends the server a signal (default: SIGTERM) and waits until it has ended. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** The reason why a server cannot be started as `who` here. Undefined if it can. */
export function cannotStartAs(who: StartedBy): string | undefined {
  return who === "root" && process.getuid?.() !== 0 ? "these tests were not started by root" : undefined;
}

export type StartedBy = "root" | "an ordinary user";

/** Starts the built server in a process of its own. */
export async function startLocalServer(
  options: {
    who?: StartedBy;
    /** Default: `test-key`. With null, the server makes one up. */
    apiKey?: string | null;
    args?: readonly string[];
    env?: Record<string, string>;
    /** A command that starts the server, such as `prlimit --nofile=600`. It must execute the words that follow it. */
    through?: readonly string[];
  } = {},
): Promise<LocalServer> {
  const dropsUid = options.who === "an ordinary user" && process.getuid?.() === 0;
  // Copy the build, because an ordinary user may not be able to read the directory of the checkout.
  const home = dropsUid ? await mkdtemp(join(tmpdir(), "ordinary-user-")) : undefined;
  if (home !== undefined) await cp(dist, home, { recursive: true });
  const { apiKey = "test-key" } = options;
  const uid = String(ordinaryUid);
  // Without a cache directory, each server compiles the agent's program anew.
  const caches = dropsUid ? inject("ordinaryUserCaches") : undefined;
  const command = [
    ...(options.through ?? []),
    ...killedWithParent,
    ...(dropsUid ? ["--reuid", uid, "--regid", uid, "--clear-groups"] : []),
    ...(home === undefined ? [] : ["sh", "-c", 'umask 022; exec "$@"', "server"]),
    process.execPath,
    join(home ?? dist, "main.js"),
    ...["serve", "--port", "0", "--json", ...(apiKey === null ? [] : ["--api-key", apiKey])],
    ...(options.args ?? []),
  ];
  if (home !== undefined) await makeReadable(home);
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: "/",
    env: {
      PATH: process.env.PATH,
      ...(caches !== undefined && { XDG_CACHE_HOME: caches }),
      ...options.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    log += chunk;
  });
  const exited = once(child, "exit").then(async ([code, signal]) => {
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
