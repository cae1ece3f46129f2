import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stampFile } from "./accepted-builds.js";
import { AcceptedExecutions } from "./accepted-executions.js";
import { call, outputOf, readText } from "./api.js";
import { ChaosServer } from "./chaos-server.js";
import { bubblewrap, type ChaosTarget } from "./chaos-target.js";
import { contradictions, type Entry, type Found } from "./ledger.js";
import { leftovers } from "./leftovers.js";
import { randomNumbers } from "./random-numbers.js";
import { findSandbox, markerFile, Workload } from "./workload.js";

export interface ChaosReport {
  readonly kills: number;
  /** The number of these kills that came before the server was ready. */
  readonly killsAtStart: number;
  /** The number of servers that were killed in their start-up probe, in addition to `kills`. */
  readonly killsInProbe: number;
  /** The number of times that what the servers depend on was killed, in addition to `kills`. */
  readonly interruptions: number;
  /** Requests that were refused for that. */
  readonly refusedMeanwhile: number;
  /** The number of sandboxes that went on with the next server. */
  readonly wentOn: number;
  /** Operations that were answered with success, by kind, and those that were never answered. */
  readonly acknowledged: Readonly<Record<string, number>>;
  readonly unanswered: number;
  readonly checks: number;
  /** Changes that the server had acknowledged and that are missing after a restart. */
  readonly lost: readonly string[];
  readonly orphans: readonly string[];
  /** Operations that should have been possible and were refused. */
  readonly refused: readonly string[];
}

export interface ChaosOptions {
  readonly kills: number;
  readonly seed: number;
  readonly killsGuards: boolean;
  readonly target?: ChaosTarget;
}

const workers = 4;
/** A server is killed after at most so many answers, or so many milliseconds, plus a random part of `longestAfterMs`. */
const mostAnswers = 24;
const longestLoadMs = 5000;
const longestAfterMs = 150;
const longestStartMs = 500;
const longestProbeMs = 5;
const latestInterruptionMs = 2000;
/** How long the guard of a killed server may take to clean up. */
const guardLimitMs = 60_000;

/**
 * Kills a server under load again and again, and compares what the next server says with what the last one had
 * acknowledged.
 */
export class ChaosRun {
  readonly #workload: Workload;
  readonly #dead = new Set<string>();
  readonly #lost: string[] = [];
  readonly #orphans: string[] = [];
  #checks = 0;
  #killsAtStart = 0;
  #killsInProbe = 0;
  #interruptions = 0;
  #wentOn = 0;

  private constructor(
    private readonly random: () => number,
    private readonly executions: AcceptedExecutions,
    private readonly killsGuards: boolean,
    private readonly target: ChaosTarget,
  ) {
    this.#workload = new Workload(random, executions, target);
  }

  /** With `killsGuards`, a server's guard is killed with it, so that the next server has to clean up. */
  static async run({ kills, seed, killsGuards, target = bubblewrap }: ChaosOptions): Promise<ChaosReport> {
    await using executions = await AcceptedExecutions.open();
    return await new ChaosRun(randomNumbers(seed), executions, killsGuards, target).#run(kills);
  }

  async #run(kills: number): Promise<ChaosReport> {
    const directory = await mkdtemp(join(tmpdir(), "chaos-"));
    try {
      for (let kill = 0; kill < kills; kill += 1) {
        // A kill in the probe takes only a moment and finds other mistakes than a kill under load: do both.
        if (this.target.isBubblewrap) await this.#killInProbe(directory);
        if (this.random() < 0.2) await this.#killAtStart(directory);
        else await this.#killUnderLoad(directory);
      }
      await this.#stopAtLast(directory);
    } finally {
      await rm(directory, { recursive: true });
    }
    const { byKind: acknowledged, unanswered, refusals: refused, refusedMeanwhile } = this.#workload.tally;
    return {
      kills,
      killsAtStart: this.#killsAtStart,
      killsInProbe: this.#killsInProbe,
      interruptions: this.#interruptions,
      wentOn: this.#wentOn,
      refusedMeanwhile,
      acknowledged,
      unanswered,
      checks: this.#checks,
      lost: this.#lost,
      orphans: this.#orphans,
      refused,
    };
  }

  async #killAtStart(directory: string): Promise<void> {
    const server = this.#server(directory);
    await sleep(this.random() * longestStartMs);
    this.#killsAtStart += 1;
    await this.#kill(server);
  }

  async #killInProbe(directory: string): Promise<void> {
    const server = this.#server(directory);
    await server.probing();
    await sleep(this.random() * longestProbeMs);
    this.#killsInProbe += 1;
    // Kill at once: there is no guard yet, and to look for one takes longer than the probe.
    await server.end("SIGKILL");
    this.#dead.add(server.identity);
  }

  async #killUnderLoad(directory: string): Promise<void> {
    const { server, url } = await this.#start(directory);
    const working = Array.from({ length: workers }, () => this.#workload.work(url));
    const interrupted = this.random() < 0.5 ? this.#interrupt() : undefined;
    await this.#load(this.#workload.tally.acknowledged + Math.floor(this.random() * mostAnswers));
    await this.#kill(server);
    await Promise.all(working);
    await interrupted;
    this.#workload.tally.mayBeRefusedMeanwhile = () => false;
  }

  /** Kills what the server depends on, perhaps after the server. */
  async #interrupt(): Promise<void> {
    const { interrupt } = this.target;
    if (!interrupt) return;
    await sleep(this.random() * latestInterruptionMs);
    this.#interruptions += 1;
    this.#workload.tally.mayBeRefusedMeanwhile = (kind) => kind !== "delete";
    await interrupt();
  }

  #server(directory: string): ChaosServer {
    return new ChaosServer(directory, this.target.options, this.target.env);
  }

  async #load(acknowledged: number): Promise<void> {
    const until = Date.now() + longestLoadMs;
    while (this.#workload.tally.acknowledged < acknowledged && Date.now() < until) await sleep(1);
    await sleep(this.random() * longestAfterMs);
  }

  /** Asks the last server to stop, and checks that it leaves nothing behind. */
  async #stopAtLast(directory: string): Promise<void> {
    const { server, url } = await this.#start(directory);
    await this.#tryTemplates(url);
    this.#checks += this.executions.count;
    this.#lost.push(...(await this.executions.contradictions()));
    await server.end("SIGTERM");
    this.#dead.add(server.identity);
    await this.#checkLeftovers();
  }

  async #start(directory: string): Promise<{ server: ChaosServer; url: string }> {
    const server = this.#server(directory);
    const url = await server.ready;
    if (url === undefined) throw new Error(`The server did not start: ${server.log}`);
    await this.#check(url, directory);
    return { server, url };
  }

  async #kill(server: ChaosServer): Promise<void> {
    if (this.killsGuards) await server.endWithGuard();
    else await server.end("SIGKILL");
    this.#dead.add(server.identity);
  }

  async #check(url: string, directory: string): Promise<void> {
    const { body } = await call(url, "GET", "/v1/sandboxes?limit=1000");
    const listed = new Set((body.data as { id: string }[]).map(({ id }) => id));
    const { entries } = this.#workload;
    // Delete sandboxes whose create was never answered: they may exist.
    for (const id of listed) if (!entries.has(id)) await call(url, "DELETE", `/v1/sandboxes/${id}`);
    for (const entry of entries.values()) {
      this.#checks += 1;
      const found = await findSandbox(url, entry.id);
      this.#lost.push(...contradictions(entry, found, this.target.goesOn));
      if ((found !== undefined) !== listed.has(entry.id))
        this.#lost.push(`${entry.id} is listed or found, not both`);
      if (found) await this.#takeUp(url, entry, found);
      // Ask for a sandbox that is gone once more after another restart, then forget it.
      else if (entry.state === "deleted") entries.delete(entry.id);
      else entry.state = "deleted";
    }
    this.#checks += this.#workload.builds.free.length;
    this.#lost.push(...(await this.#workload.builds.contradictions(url)));
    this.#lost.push(...(await this.#workload.snapshots.contradictions(url)));
    await this.#checkFiles(directory);
    await this.#checkLeftovers();
  }

  /** Checks that sandboxes can be created from every template. */
  async #tryTemplates(url: string): Promise<void> {
    for (const template of this.#workload.builds.free) {
      const sandbox = await this.#workload.create(url, template);
      if (!sandbox) continue;
      await this.#checkText(sandbox, stampFile, template.stamp);
      await this.#workload.delete(url, sandbox);
    }
  }

  async #checkText(sandbox: Entry, path: string, expected: string): Promise<void> {
    this.#checks += 1;
    const content = await readText(sandbox, path);
    if (content !== expected) this.#lost.push(`${path} of ${sandbox.id} holds ${content}, not ${expected}`);
  }

  /**
   * Continues to use a sandbox that the server has kept. Starts about half of those that were stopped, to check their
   * files.
   */
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
    if (found.status !== "stopped") return this.#goOn(entry, found.status === "paused");
    entry.state = "stopped";
    if (!wasStopped || this.random() < 0.5) return;
    await this.#workload.start(url, entry);
    if (entry.saved !== undefined) await this.#checkText(entry, markerFile, entry.saved);
    if (entry.template) await this.#checkText(entry, stampFile, entry.template.stamp);
  }

  async #goOn(entry: Entry, isPaused: boolean): Promise<void> {
    this.#wentOn += 1;
    entry.state = isPaused ? "paused" : "running";
    if (isPaused) return;
    if (entry.written !== undefined) await this.#checkText(entry, markerFile, entry.written);
    if (entry.kept === undefined) return;
    this.#checks += 1;
    const value = (await outputOf(entry, "print(kept)", "python")).trim();
    if (value !== entry.kept) this.#lost.push(`the variable of ${entry.id} is ${value}, not ${entry.kept}`);
  }

  async #checkFiles(directory: string): Promise<void> {
    this.#checks += 1;
    const { entries } = this.#workload;
    for (const name of await readdir(join(directory, "files"))) {
      if (entries.get(name.replace(/\.disk$/, ""))?.state !== "stopped") this.#orphans.push(`file: ${name}`);
    }
    if (!this.target.isBubblewrap) return;
    this.#orphans.push(...(await this.#workload.snapshots.abandonedFiles(directory)));
    const alive = [...entries.values()].filter(({ state }) => state !== "deleted");
    const inUse = new Set(alive.flatMap(({ template }) => template?.buildId ?? []));
    this.#orphans.push(...(await this.#workload.builds.abandonedLayers(directory, inUse)));
  }

  async #checkLeftovers(): Promise<void> {
    this.#checks += 1;
    const until = Date.now() + guardLimitMs;
    // Do not wait again for leftovers that an earlier check has reported.
    const found = async (): Promise<string[]> =>
      [
        ...leftovers(this.#dead),
        ...(await this.target.leftovers([...this.#workload.entries.values()])),
      ].filter((left) => !this.#orphans.includes(left));
    let left = await found();
    for (; left.length > 0 && Date.now() < until; left = await found()) await sleep(50);
    this.#orphans.push(...left);
  }
}
