import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SmallDirectory } from "../support/small-directory.js";
import { AcceptedExecutions } from "./accepted-executions.js";
import { call } from "./api.js";
import { ChaosServer } from "./chaos-server.js";
import { contradictions, type Entry } from "./ledger.js";
import { leftovers } from "./leftovers.js";
import { randomNumbers } from "./random-numbers.js";
import { findSandbox, Workload } from "./workload.js";

export interface FullDirectoryReport {
  readonly rounds: number;
  readonly acknowledged: Readonly<Record<string, number>>;
  /** The number of requests that were refused with 507, as documented for a full disk. */
  readonly refusedForRoom: number;
  readonly checks: number;
  /** Changes that the server had acknowledged and that are missing, and steps that took too long. */
  readonly lost: readonly string[];
  readonly orphans: readonly string[];
  /** Answers that are not documented for a full disk. */
  readonly undocumented: readonly string[];
}

const megabytes = 8;
const workers = 4;
const answersAPhase = 30;
const patienceMs = 60_000;

/** Fills the data directory of a server under load and frees it, again and again. */
export class FullDirectoryRun {
  readonly #workload: Workload;
  readonly #lost: string[] = [];
  readonly #orphans: string[] = [];
  #isFull = false;
  #checks = 0;

  private constructor(
    random: () => number,
    private readonly executions: AcceptedExecutions,
    private readonly disk: SmallDirectory,
  ) {
    this.#workload = new Workload(random, executions);
    // A template build needs more space than the disk ever has. Other requests may be refused only while it is full,
    // deletes never.
    this.#workload.tally.mayBeRefusedForRoom = (kind) =>
      kind === "template build" || (this.#isFull && kind !== "delete");
  }

  static async run(rounds: number, seed: number): Promise<FullDirectoryReport> {
    await using executions = await AcceptedExecutions.open();
    using disk = new SmallDirectory(megabytes);
    return await new FullDirectoryRun(randomNumbers(seed), executions, disk).#run(rounds);
  }

  async #run(rounds: number): Promise<FullDirectoryReport> {
    const server = new ChaosServer(this.disk.data);
    const url = await started(server);
    for (let round = 0; round < rounds; round += 1) {
      await this.#work(url);
      const expiring = await call(url, "POST", "/v1/sandboxes", {
        template_name: "base",
        timeout_seconds: 4,
      });
      await this.#workFull(url, String(expiring.body.id));
      await this.#check(url);
    }
    await this.#restart(server);
    const { byKind: acknowledged, refusedForRoom, refusals: undocumented } = this.#workload.tally;
    return {
      ...{ rounds, acknowledged, refusedForRoom, undocumented },
      ...{ checks: this.#checks, lost: this.#lost, orphans: this.#orphans },
    };
  }

  async #work(url: string): Promise<void> {
    const { tally } = this.#workload;
    const enough = tally.answered + answersAPhase;
    const isOver = (): boolean => tally.answered >= enough;
    await Promise.all(Array.from({ length: workers }, () => this.#workload.work(url, isOver)));
    if (tally.unanswered > 0) throw new Error("The server did not answer.");
  }

  async #workFull(url: string, expiring: string): Promise<void> {
    this.#isFull = true;
    // Fill the disk again and again, because deletes free space.
    const filling = setInterval(() => this.disk.fill(), 20);
    try {
      this.disk.fill();
      await this.#expect("says that it is full", async () => (await storage(url)) === "full");
      await this.#work(url);
      await this.#expect(
        "lets a sandbox expire",
        async () => (await call(url, "GET", `/v1/sandboxes/${expiring}`)).status === 410,
      );
    } finally {
      clearInterval(filling);
      this.disk.free();
    }
    await this.#expect("works again", async () => (await storage(url)) === "ok");
    this.#isFull = false;
  }

  async #expect(what: string, isSo: () => Promise<boolean>): Promise<void> {
    this.#checks += 1;
    const until = Date.now() + patienceMs;
    while (!(await isSo())) {
      if (Date.now() > until) return void this.#lost.push(`the server never ${what}`);
      await sleep(50);
    }
  }

  /** Compares each sandbox with what the running server says of it, and with the files in the data directory. */
  async #check(url: string): Promise<void> {
    const { entries } = this.#workload;
    for (const entry of entries.values()) {
      this.#checks += 1;
      const { status = "deleted" } = (await findSandbox(url, entry.id)) ?? {};
      if (status !== entry.state) this.#lost.push(`${entry.id} is ${status}; it was ${entry.state}`);
    }
    const { body } = await call(url, "GET", "/v1/sandboxes?limit=1000");
    for (const { id } of body.data as { id: string }[])
      if (entries.get(id)?.state === undefined) this.#orphans.push(`sandbox: ${id}`);
    const isKept = (name: string): boolean => entries.get(name.replace(/\.disk$/, ""))?.state === "stopped";
    const files = await readdir(join(this.disk.data, "files"));
    this.#orphans.push(...files.filter((name) => !isKept(name)).map((name) => `file: ${name}`));
  }

  /** Stops the server, starts another, and checks that all sandboxes are kept and the end of each execution is reported. */
  async #restart(server: ChaosServer): Promise<void> {
    const { code } = await server.end("SIGTERM");
    if (code !== 0) this.#lost.push(`it ended with ${code}: ${server.log}`);
    if (/^ {4}at /m.test(server.log)) this.#lost.push(`it wrote a stack trace: ${server.log}`);
    const next = new ChaosServer(this.disk.data);
    const url = await started(next);
    for (const entry of this.#workload.entries.values()) {
      this.#checks += 1;
      const stopped: Entry = entry.state === "deleted" ? entry : { ...entry, state: "stopped" };
      this.#lost.push(...contradictions(stopped, await findSandbox(url, entry.id)));
    }
    // Only now has every execution ended, because some run until their sandbox does.
    this.#checks += this.executions.count;
    this.#lost.push(...(await this.executions.contradictions()));
    await next.end("SIGTERM");
    this.#orphans.push(...leftovers(new Set([server.identity, next.identity])));
  }
}

async function started(server: ChaosServer): Promise<string> {
  const url = await server.ready;
  if (url === undefined) throw new Error(`The server did not start: ${server.log}`);
  return url;
}

const storage = async (url: string): Promise<unknown> => (await call(url, "GET", "/health")).body.storage;
