import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import pLimit from "p-limit";
import type { AgentCalls } from "../agents/agent-calls.js";
import { haveSameLimits } from "../catalogue/granted-limits.js";
import { hostPackages } from "../catalogue/installed-packages.js";
import type { LocalTemplate } from "../catalogue/template-catalogue.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { isOutOfDescriptors, openFilesAdvice } from "../runtime/host/open-files.js";
import type { Machine, SandboxRuntime } from "../runtime/sandbox-runtime.js";
import type { LayerStore } from "../store/layer-store.js";
import type { TokenIssuer } from "../tokens/token-issuer.js";
import type { Activity } from "./activity.js";
import type { MemoryBudget } from "./memory-budget.js";
import { startTemplate } from "./template-start.js";
import { WarmPool } from "./warm-pool.js";

/** How long a spare machine's boot lets the work of others go first, at most. */
const politeMs = 1000;
/** How long a template that is not used keeps a machine waiting. */
const idleMs = 5 * 60 * 1000;

export interface MachineSupplyOptions {
  readonly runtime: SandboxRuntime;
  readonly tokens: TokenIssuer;
  readonly agents: AgentCalls;
  readonly layers: LayerStore;
  readonly egress: EgressGateway;
  readonly activity: Activity;
  readonly budget: MemoryBudget;
  /** Machines kept booted for the default template; with none, no template has any. */
  readonly poolSize: number;
  readonly defaultTemplate: LocalTemplate | undefined;
  readonly log: (message: string) => void;
}

/** Where machines come from: a pool for each template in use, and never more boots at a time than help. */
export class MachineSupply {
  readonly #pools = new Map<string, TemplatePool>();
  /** A boot is mostly work of the processor: more at a time only make each later. */
  readonly #demanded = pLimit(Math.max(2, availableParallelism()));
  readonly #spares = pLimit(1);
  #isClosed = false;

  constructor(private readonly options: MachineSupplyOptions) {
    const { defaultTemplate, poolSize, budget } = options;
    budget.onShortage(() => this.#yieldSpare());
    if (defaultTemplate) this.#pool(defaultTemplate, poolSize);
  }

  /** Has the machines of the default template boot that are to wait. */
  fill(): void {
    for (const { pool } of this.#pools.values()) pool.fill();
  }

  /** A machine for a new sandbox: one that waits, if `wanted` is the template with its own limits. */
  claim(template: LocalTemplate, wanted = template): Promise<Machine> {
    if (!haveSameLimits(template, wanted)) return this.boot(wanted, newSandboxId(), undefined);
    const pool = this.#pool(template, 0);
    const isDefault = template.name === this.options.defaultTemplate?.name;
    if (!isDefault && this.options.poolSize > 0) this.#keepOneWaiting(template.name, pool);
    return this.#explained(() => pool.claim());
  }

  /** A machine for a sandbox that has an id already, and perhaps the disk of its last machine. */
  boot(template: LocalTemplate, id: string, disk: string | undefined): Promise<Machine> {
    return this.#explained(() => this.#started(template, id, disk));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#pools.values()].map(({ pool, idle }) => {
        clearTimeout(idle);
        return pool.close();
      }),
    );
  }

  async #explained(machine: () => Promise<Machine>): Promise<Machine> {
    if (this.#isClosed) throw shuttingDown();
    const started = await machine().catch((error: unknown) => {
      if (error instanceof Problem) throw error;
      if (isOutOfDescriptors(error)) {
        const message = `No sandbox could be started: this server cannot open any more files now. ${openFilesAdvice()}`;
        throw new Problem(503, "RUNTIME_UNAVAILABLE", message, { cause: error });
      }
      const reason = error instanceof Error ? error.message : String(error);
      const message = `No sandbox could be started: ${reason.replace(/\.?$/, ".")} "cloud-sandbox-local doctor" shows what this machine can isolate.`;
      throw new Problem(503, "RUNTIME_UNAVAILABLE", message, { cause: error });
    });
    if (!this.#isClosed) return started;
    await started.destroy();
    throw shuttingDown();
  }

  #pool(template: LocalTemplate, size: number): WarmPool {
    const known = this.#pools.get(template.name);
    if (known?.template === template) return known.pool;
    // The template was made anew: what waits is of the old one.
    if (known) void this.#drop(template.name);
    const { log } = this.options;
    const pool = new WarmPool({
      size,
      boot: () => this.#started(template, newSandboxId()),
      packages: hostPackages,
      hasRoom: () => this.options.budget.hasRoom(template.limits),
      whenIdle: (work) => this.#spares(() => this.#politely(work)),
      onBootFailure: (error) =>
        log(`A machine did not boot: ${error instanceof Error ? error.message : String(error)}`),
    });
    this.#pools.set(template.name, { template, pool, idle: undefined });
    return pool;
  }

  #keepOneWaiting(name: string, pool: WarmPool): void {
    const entry = this.#pools.get(name);
    if (!entry || this.#isClosed) return;
    void pool.resize(1);
    clearTimeout(entry.idle);
    entry.idle = setTimeout(() => void this.#drop(name), idleMs).unref();
  }

  async #drop(name: string): Promise<void> {
    const entry = this.#pools.get(name);
    this.#pools.delete(name);
    clearTimeout(entry?.idle);
    await entry?.pool.close();
  }

  async #politely(work: () => Promise<void>): Promise<void> {
    await this.options.activity.quiet(politeMs);
    while (this.#demanded.activeCount > 0) await sleep(20, undefined, { ref: false });
    await work();
  }

  /** What nobody owns ends first. */
  #yieldSpare(): Promise<void> | undefined {
    for (const { pool } of this.#pools.values()) {
      const yielding = pool.yieldOne();
      if (yielding !== undefined) return yielding;
    }
    return undefined;
  }

  async #started(template: LocalTemplate, id: string, disk?: string): Promise<Machine> {
    const release = await this.options.budget.reserve(template.limits);
    const machine = await this.#demanded(() => this.#start(template, id, disk)).catch((error: unknown) => {
      release();
      throw error;
    });
    void machine.exited.then(() => {
      release();
      for (const { pool } of this.#pools.values()) pool.fill();
    });
    return machine;
  }

  async #start(template: LocalTemplate, id: string, disk?: string): Promise<Machine> {
    const { runtime, tokens, egress, agents, layers } = this.options;
    const { built } = template;
    const release = layers.hold(built?.layers ?? []);
    const way = egress.open(id);
    const start = runtime.start({
      id,
      template: template.name,
      limits: template.limits,
      publicKey: tokens.publicKey,
      languages: template.languages.map(({ language }) => language),
      egress: (connection) => way.accept(connection),
      ...(built && { layers: built.layers, environment: built.environment }),
      ...(disk !== undefined && { disk }),
    });
    const machine = await start.catch((error: unknown) => {
      egress.close(id);
      release();
      throw error;
    });
    tokens.prepare(id);
    void machine.exited.then(() => {
      tokens.forget(id);
      egress.close(id);
      release();
      if (built) void layers.collect();
    });
    await startTemplate(agents, machine, template).catch(async (error: unknown) => {
      await machine.destroy();
      throw error;
    });
    return machine;
  }
}

interface TemplatePool {
  readonly template: LocalTemplate;
  readonly pool: WarmPool;
  /** Ends the pool once the template is not used any more. */
  idle: NodeJS.Timeout | undefined;
}

const shuttingDown = (): Problem =>
  new Problem(503, "RUNTIME_UNAVAILABLE", "This control plane is shutting down.");

/** The form that clients of the cloud know: seconds since 1970, then eight random characters of base 36. */
function newSandboxId(): string {
  const random = randomBytes(8).readBigUInt64LE().toString(36).padStart(8, "0").slice(-8);
  return `${Math.floor(Date.now() / 1000)}${random}`;
}
