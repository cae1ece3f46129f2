import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { processIdentity } from "../../packages/local/src/runtime/host/process-identity.js";
import { descendants } from "../support/host-processes.js";
import { killedWithParent } from "../support/local-server.js";
import { throughMarker } from "./leftovers.js";

const main = fileURLToPath(new URL("../../packages/local/dist/main.js", import.meta.url));
export const apiKey = "chaos-key";

/** A server on a data directory that may be killed at any moment, also before it is ready. */
export class ChaosServer {
  readonly pid: number;
  /** Tells the server from later ones with its pid. */
  readonly identity: string;
  /** The server's URL. Undefined if the server ended before it was ready. */
  readonly ready: Promise<string | undefined>;
  readonly #exited: Promise<{ code: number | null }>;
  #log = "";

  /** `options`: further options of `serve`. `env`: further variables. */
  constructor(
    dataDirectory: string,
    options: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ) {
    const args = [main, "serve", "--json", "--port", "0", "--api-key", apiKey, "--pool", "2", ...options];
    const kept = ["--data-dir", dataDirectory, "--webhook-allow-private"];
    const [setpriv, ...through] = [...killedWithParent, ...throughMarker];
    const child = spawn(setpriv, [...through, process.execPath, ...args, ...kept], {
      cwd: "/",
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.pid = child.pid ?? 0;
    this.identity = processIdentity(this.pid) ?? "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#log += chunk;
    });
    this.#exited = once(child, "exit").then(([code]) => ({ code: code as number | null }));
    this.ready = Promise.race([firstLine(child), this.#exited.then(() => undefined)]).then((line) =>
      line === undefined ? undefined : (JSON.parse(line) as { url: string }).url,
    );
  }

  get log(): string {
    return this.#log;
  }

  /** Waits until the server's start-up probe has started bubblewrap, or until the server is ready. */
  async probing(): Promise<void> {
    let isReady = false;
    void this.ready.then(() => {
      isReady = true;
    });
    // Look at every turn of the event loop: the probe takes only some milliseconds.
    while (!isReady && !this.#children().some((commandLine) => commandLine.startsWith("bwrap\0--unshare")))
      await nextTurn();
  }

  #children(): string[] {
    try {
      const pids = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, "utf8").trim();
      return pids.split(" ").map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
    } catch {
      // The server has no child, or the child ended while it was read.
      return [];
    }
  }

  async end(signal: "SIGKILL" | "SIGTERM"): Promise<{ code: number | null }> {
    process.kill(this.pid, signal);
    return this.#exited;
  }

  /** Kills the server's guard, if it has one already, and then the server. */
  async endWithGuard(): Promise<void> {
    for (const { pid, commandLine } of descendants(this.pid))
      if (commandLine.includes(" cloud-sandbox-guard ")) process.kill(pid, "SIGKILL");
    await this.end("SIGKILL");
  }
}

async function firstLine(child: ChildProcess): Promise<string | undefined> {
  let output = "";
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    const end = output.indexOf("\n");
    if (end === -1) continue;
    return output.slice(0, end);
  }
  return undefined;
}
