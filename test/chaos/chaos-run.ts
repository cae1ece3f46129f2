import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ChaosServer } from "./chaos-server.js";
import { contradictions, type Entry, type Found } from "./ledger.js";
import { leftovers } from "./leftovers.js";
import { call, findSandbox, readMarker, Workload } from "./workload.js";

export interface ChaosReport {
  readonly kills: number;
  /** Of these, how many came before the server was ready. */
  readonly killsAtStart: number;
  /** Operations that were answered with success, and those that were never answered. */
  readonly acknowledged: number;
  readonly unanswered: number;
  readonly checks: number;
  /** What was acknowledged and is not so. */
  readonly lost: readonly string[];
  readonly orphans: readonly string[];
  /** Operations that should have been possible and were refused. */
  readonly refused: readonly string[];
}

const workers = 4;
/** A kill comes after so many answers at most, or so long, and then at any moment of the next. */
const mostAnswers = 12;
const longestLoadMs = 5000;
const longestAfterMs = 150;
const longestStartMs = 500;
/** How long the guard of a dead server may take. */
const guardLimitMs = 15_000;

/** Kills a server under load again and again, and holds what the next one tells against what was acknowledged. */
export class ChaosRun {
  readonly #workload: Workload;
  readonly #random: () => number;
  readonly #dead = new Set<number>();
  readonly #lost: string[] = [];
  readonly #orphans: string[] = [];
  #checks = 0;
  #killsAtStart = 0;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
    this.#workload = new Workload(this.#random);
  }

  async run(kills: number): Promise<ChaosReport> {
    const directory = await mkdtemp(join(tmpdir(), "chaos-"));
    try {
      for (let kill = 0; kill < kills; kill += 1) {
        if (this.#random() < 0.2) await this.#killAtStart(directory);
        else await this.#killUnderLoad(directory);
      }
      await this.#stopAtLast(directory);
    } finally {
      await rm(directory, { recursive: true });
    }
    const { acknowledged, unanswered, refusals: refused } = this.#workload;
    return {
      kills,
      killsAtStart: this.#killsAtStart,
      acknowledged,
      unanswered,
      checks: this.#checks,
      lost: this.#lost,
      orphans: this.#orphans,
      refused,
    };
  }

  async #killAtStart(directory: string): Promise<void> {
    const server = new ChaosServer(directory);
    await sleep(this.#random() * longestStartMs);
    this.#killsAtStart += 1;
    await this.#end(server, "SIGKILL");
  }

  async #killUnderLoad(directory: string): Promise<void> {
    const { server, url } = await this.#start(directory);
    const working = Array.from({ length: workers }, () => this.#workload.work(url));
    await this.#load(this.#workload.acknowledged + Math.floor(this.#random() * mostAnswers));
    await this.#end(server, "SIGKILL");
    await Promise.all(working);
  }

  async #load(acknowledged: number): Promise<void> {
    const until = Date.now() + longestLoadMs;
    while (this.#workload.acknowledged < acknowledged && Date.now() < until) await sleep(1);
    await sleep(this.#random() * longestAfterMs);
  }

  /** A server that is asked to stop leaves nothing by itself. */
  async #stopAtLast(directory: string): Promise<void> {
    const { server } = await this.#start(directory);
    await this.#end(server, "SIGTERM");
    await this.#checkLeftovers();
  }

  async #start(directory: string): Promise<{ server: ChaosServer; url: string }> {
    const server = new ChaosServer(directory);
    const url = await server.ready;
    if (url === undefined) throw new Error(`The server did not start: ${server.log}`);
    await this.#check(url, directory);
    return { server, url };
  }

  async #end(server: ChaosServer, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    await server.end(signal);
    this.#dead.add(server.pid);
  }

  async #check(url: string, directory: string): Promise<void> {
    const { body } = await call(url, "GET", "/v1/sandboxes?limit=1000");
    const listed = new Set((body.data as { id: string }[]).map(({ id }) => id));
    const { entries } = this.#workload;
    // Creates that were never answered may have been done.
    for (const id of listed) if (!entries.has(id)) await call(url, "DELETE", `/v1/sandboxes/${id}`);
    for (const entry of entries.values()) {
      this.#checks += 1;
      const found = await findSandbox(url, entry.id);
      this.#lost.push(...contradictions(entry, found));
      if ((found !== undefined) !== listed.has(entry.id))
        this.#lost.push(`${entry.id} is listed or found, not both`);
      if (found) await this.#takeUp(url, entry, found);
      // One that is known to be gone is asked for once more, after another restart.
      else if (entry.state === "deleted") entries.delete(entry.id);
      else entry.state = "deleted";
    }
    await this.#checkFiles(directory);
    await this.#checkLeftovers();
  }

  /** Goes on with what is there. Of those that were stopped, some are started to see what they hold. */
  async #takeUp(url: string, entry: Entry, found: Found): Promise<void> {
    const wasStopped = entry.state === "stopped" && entry.perhaps === undefined;
    entry.perhaps = undefined;
    entry.mayHaveMoved = false;
    entry.expiresAt = found.expires_at ?? "";
    entry.isBusy = false;
    entry.url = url;
    if (found.status === "error") {
      entry.state = "running";
      await this.#workload.delete(url, entry);
      return;
    }
    entry.state = "stopped";
    if (!wasStopped || entry.saved === undefined || this.#random() < 0.5) return;
    await this.#workload.start(url, entry);
    const content = await readMarker(entry);
    this.#checks += 1;
    if (content !== entry.saved) this.#lost.push(`${entry.id} holds ${content}, not ${entry.saved}`);
  }

  async #checkFiles(directory: string): Promise<void> {
    this.#checks += 1;
    const { entries } = this.#workload;
    for (const name of await readdir(join(directory, "files"))) {
      if (entries.get(name)?.state !== "stopped") this.#orphans.push(`file: ${name}`);
    }
  }

  async #checkLeftovers(): Promise<void> {
    this.#checks += 1;
    const until = Date.now() + guardLimitMs;
    while (leftovers(this.#dead).length > 0 && Date.now() < until) await sleep(50);
    this.#orphans.push(...leftovers(this.#dead));
  }
}

/** The same numbers for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
