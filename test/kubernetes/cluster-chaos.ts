import { setTimeout as sleep } from "node:timers/promises";
import { randomNumbers } from "../chaos/random-numbers.js";
import { Balancer } from "../support/kubernetes/balancer.js";
import { endApiServer, kubectl, startKubernetesServer } from "../support/kubernetes/kubernetes-server.js";
import { secondNode } from "../support/kubernetes/second-node.js";
import type { LocalServer } from "../support/local-server.js";
import { ClusterUsers, describe, isGone, type Known } from "./cluster-users.js";

export interface ClusterChaosReport {
  readonly kills: Readonly<Record<string, number>>;
  readonly acknowledged: Readonly<Record<string, number>>;
  readonly unanswered: number;
  readonly refused: number;
  readonly checks: number;
  /** Pods that were on the second node when it died. */
  readonly podsOfDeadNodes: number;
  /** Sandboxes that have failed because their Pod was killed, or was on a node that died. */
  readonly failed: number;
  /** Seconds from a kill until the servers were healthy again. */
  readonly longestRecovery: number;
  readonly wrong: readonly string[];
  readonly orphans: readonly string[];
}

const users = 4;
const longestLoadMs = 4000;
const longestAwayMs = 8000;
const longestNodeAwayMs = 60_000;
/** How long a sandbox may take to answer or to fail after a kill: servers try to reach its Pod for 60 s. */
const verdictLimitMs = 100_000;
const noticeMs = 500;
const recoveryLimitMs = 180_000;
const own = "app.kubernetes.io/managed-by=cloud-sandbox";

/** Kills servers that act as one, Pods, a node and the API server under load, and compares what is there with what was acknowledged. */
export class ClusterChaos {
  readonly #users: ClusterUsers;
  readonly #kills: Record<string, number> = {};
  readonly #orphans: string[] = [];
  readonly #servers: LocalServer[] = [];
  readonly #podsOfDeadNodes = new Set<string>();
  #isNodeUp = false;
  #checks = 0;
  #failed = 0;
  #longestRecovery = 0;

  private constructor(
    private readonly balancer: Balancer,
    private readonly args: readonly string[],
    private readonly random: () => number,
  ) {
    this.#users = new ClusterUsers(balancer.url, "test-key", random);
  }

  static async run(kills: number, seed: number, args: readonly string[]): Promise<ClusterChaosReport> {
    await using balancer = await Balancer.open();
    const chaos = new ClusterChaos(balancer, args, randomNumbers(seed));
    try {
      await chaos.#startNode();
      return await chaos.#run(kills);
    } finally {
      await secondNode.remove();
      await Promise.all(chaos.#servers.map((server) => server.stop("SIGKILL").catch(() => undefined)));
    }
  }

  async #run(kills: number): Promise<ClusterChaosReport> {
    await this.#start();
    await this.#start();
    for (let kill = 0; kill < kills; ) {
      this.#users.begin(users);
      // Sometimes the next one is killed before the servers have recovered from the last one.
      const together = this.random() < 0.25 ? 2 : 1;
      const recovering: Promise<void>[] = [];
      for (let count = 0; count < together; count += 1, kill += 1) {
        await sleep(this.random() * longestLoadMs);
        recovering.push(this.#kill());
      }
      const began = performance.now();
      await Promise.all(recovering);
      await this.#healthy();
      this.#longestRecovery = Math.max(this.#longestRecovery, (performance.now() - began) / 1000);
      await this.#users.pause();
      await this.#check();
    }
    await this.#removeAll();
    const { acknowledged, unanswered, refused, wrong } = this.#users;
    return {
      ...{ kills: this.#kills, acknowledged, unanswered, refused, checks: this.#checks, wrong },
      ...{ podsOfDeadNodes: this.#podsOfDeadNodes.size, failed: this.#failed },
      longestRecovery: Math.round(this.#longestRecovery),
      orphans: this.#orphans,
    };
  }

  /** Kills something: first the node, so that even a short run has its death. Resolves when what is needed runs again. */
  #kill(): Promise<void> {
    const chance = this.random();
    const isFirst = Object.keys(this.#kills).length === 0;
    if (isFirst || (chance < 0.1 && this.#isNodeUp)) return this.#killNode();
    if (chance < 0.6) return this.#killServer();
    return chance < 0.8 ? this.#killPod() : this.#killApiServer();
  }

  async #killServer(): Promise<void> {
    const [server] = this.#servers.splice(Math.floor(this.random() * this.#servers.length), 1);
    if (!server) return;
    const words = server.log().match(/^(This|Another) server leads/gm) ?? [];
    this.#count(words.at(-1)?.startsWith("This") ? "server that led" : "server");
    await server.stop("SIGKILL");
    await sleep(noticeMs);
    this.#share();
    await this.#start();
  }

  async #killPod(): Promise<void> {
    const names = await this.#pods().catch(() => []);
    const name = names[Math.floor(this.random() * names.length)];
    if (name === undefined) return;
    this.#count("Pod");
    await kubectl("delete", "pod", name, "--grace-period=0", "--force").catch(() => undefined);
  }

  async #killApiServer(): Promise<void> {
    this.#count("API server");
    const again = await endApiServer();
    await sleep(this.random() * longestAwayMs);
    await again();
  }

  async #killNode(): Promise<void> {
    this.#isNodeUp = false;
    this.#count("node");
    await this.#notePodsOfNode();
    await secondNode.kill();
    await this.#notePodsOfNode();
    await sleep(this.random() * longestNodeAwayMs);
    await this.#startNode();
  }

  async #startNode(): Promise<void> {
    await secondNode.start();
    this.#isNodeUp = true;
  }

  async #notePodsOfNode(): Promise<void> {
    const names = await whenApiServerAnswers(() => secondNode.pods());
    for (const name of names) this.#podsOfDeadNodes.add(name);
  }

  #count(kind: string): void {
    this.#kills[kind] = (this.#kills[kind] ?? 0) + 1;
  }

  async #start(): Promise<void> {
    this.#servers.push(await whenApiServerAnswers(() => startKubernetesServer({ args: this.args })));
    this.#share();
  }

  #share(): void {
    this.balancer.set(this.#servers.map(({ url }) => url));
  }

  async #healthy(): Promise<void> {
    for (const until = performance.now() + recoveryLimitMs; ; await sleep(noticeMs)) {
      const health = await this.#users.call("GET", "/health").catch(() => undefined);
      if (health?.body.status === "healthy") return;
      if (performance.now() > until)
        throw new Error(`The servers do not recover: ${health && describe(health)}`);
    }
  }

  async #check(): Promise<void> {
    const { known, wrong } = this.#users;
    const { body } = await this.#users.call("GET", "/v1/sandboxes?limit=1000");
    const listed = new Set((body.data as { id: string }[]).map(({ id }) => id));
    for (const id of listed) if (!known.has(id)) wrong.push(`${id} is there, and nobody was told of it`);
    for (const sandbox of known.values()) {
      this.#checks += 1;
      await this.#compare(sandbox);
      if (sandbox.state === "deleted") known.delete(sandbox.id);
    }
    const killed = (this.#kills.Pod ?? 0) + this.#podsOfDeadNodes.size;
    if (this.#failed > killed)
      wrong.push(`${this.#failed} sandboxes have failed, and ${killed} Pods were killed`);
  }

  async #compare(sandbox: Known): Promise<void> {
    const { wrong } = this.#users;
    const { id } = sandbox;
    const found = await this.#users.call("GET", `/v1/sandboxes/${id}`);
    if (isGone(found)) {
      if (sandbox.state === "running" && !sandbox.mayBeDeleted)
        wrong.push(`${id} is lost: ${describe(found)}`);
      sandbox.state = "deleted";
      return;
    }
    if (found.status !== 200) return void wrong.push(`${id}: ${describe(found)}`);
    if (sandbox.state === "deleted") return void wrong.push(`${id} is there again; it was deleted`);
    sandbox.mayBeDeleted = false;
    if (await this.#goesOn(sandbox)) return;
    await this.#users.delete(sandbox);
  }

  /** Whether the sandbox runs and has its file. If not, it has failed with a reason, or something is wrong. */
  async #goesOn(sandbox: Known): Promise<boolean> {
    const { id } = sandbox;
    for (const until = performance.now() + verdictLimitMs; ; await sleep(noticeMs)) {
      if (await this.#users.hasItsFile(sandbox).catch(() => false)) return true;
      const { body } = await this.#users.call("GET", `/v1/sandboxes/${id}`);
      if (body.status === "error" && body.failure_reason) {
        this.#failed += 1;
        return false;
      }
      if (performance.now() < until) continue;
      this.#users.wrong.push(`${id} is ${body.status}, and its file is not one of ${sandbox.texts}`);
      return false;
    }
  }

  async #removeAll(): Promise<void> {
    for (const sandbox of this.#users.alive) await this.#users.delete(sandbox);
    for (const server of this.#servers.splice(0)) await server.stop();
    // A Pod whose server was killed ends when it has waited in vain, and a server removes it.
    this.#servers.push(await startKubernetesServer({ args: [...this.args, "--pool", "0"] }));
    for (const until = performance.now() + recoveryLimitMs; performance.now() < until; await sleep(1000))
      if ((await this.#pods()).length === 0) break;
    this.#orphans.push(...(await this.#pods()));
    const records = ["configmaps", "-l", "cloud-sandbox.dev/record=sandbox", "-o", "name"];
    this.#orphans.push(...(await kubectl("get", ...records)).split("\n").filter((line) => line !== ""));
  }

  async #pods(): Promise<string[]> {
    const names = await kubectl("get", "pods", "-l", own, "--output", "jsonpath={.items[*].metadata.name}");
    return names.split(" ").filter((name) => name !== "");
  }
}

/** Tries again for a time, because all fails while the API server is away. */
async function whenApiServerAnswers<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (const until = performance.now() + recoveryLimitMs; ; await sleep(noticeMs)) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > until) throw error;
    }
  }
}
