import { randomBytes } from "node:crypto";
import { open } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import pLimit from "p-limit";
import type { AgentCalls } from "../agents/agent-calls.js";
import { haveSameLimits, type LocalTemplate } from "../catalogue/template-catalogue.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { hostPackages } from "../runtime/host/host-packages.js";
import { isOutOfDescriptors, openFilesAdvice } from "../runtime/host/open-files.js";
import { HostProblemError } from "../runtime/host-problem.js";
import type { Machine, MachineSpec, SandboxRuntime } from "../runtime/sandbox-runtime.js";
import { isWholeDisk, type SavedFiles } from "../saved/sandbox-files.js";
import type { LayerStore } from "../store/layer-store.js";
import type { TokenIssuer } from "../tokens/token-issuer.js";
import type { Volumes } from "../volumes/volumes.js";
import type { MemoryBudget } from "./memory-budget.js";
import type { SandboxRecord } from "./sandbox-record.js";
import { startTemplate } from "./template-start.js";
import { WarmPool } from "./warm-pool.js";

/** Most milliseconds that the boot of a warm machine waits for requests in flight. */
const spareBootDelayMs = 250;
/** Milliseconds that the desktop of a waiting machine may take to start. */
const desktopStartMs = 20_000;

/** Milliseconds that the agent of a machine may take to unpack saved files. */
const unpackLimitMs = 300_000;

/** Milliseconds after which a template that was not used loses its warm machine. */
const idleMs = 5 * 60 * 1000;

interface MachineSupplyOptions {
  readonly runtime: SandboxRuntime;
  readonly tokens: TokenIssuer;
  readonly agents: AgentCalls;
  readonly layers: LayerStore;
  readonly volumes: Pick<Volumes, "open">;
  readonly egress: EgressGateway;
  readonly activity: Activity;
  readonly budget: MemoryBudget;
  /** Whether machines run on other hosts, which "cloud-sandbox-local doctor" does not examine. */
  readonly isElsewhere: boolean;
  /** Names the data directory. Undefined if there is none. */
  readonly owner: string | undefined;
  /** The PriorityClass of the sandboxes of an API key. */
  readonly priorityClass: (keyId: string | undefined) => string | undefined;
  /** Number of warm machines for the default template. With 0, no template has warm machines. */
  readonly poolSize: number;
  readonly defaultTemplate: LocalTemplate | undefined;
  /** Measures each boot. Default: not measured. */
  readonly measureBoot?: (<Result>(boot: () => Promise<Result>) => Promise<Result>) | undefined;
  readonly log: (message: string) => void;
}

/** Settings in which the machine of a sandbox differs from others of its template. */
type NewSandbox = Pick<SandboxRecord, "keyId" | "mounted" | "secrets" | "restores">;

/** Provides machines for sandboxes: keeps a warm pool for each template in use and limits concurrent boots. */
export class MachineSupply {
  readonly #pools = new Map<string, TemplatePool>();
  /** Boots that a caller waits for. A boot is mostly CPU work, so more than one per core would only delay them all. */
  readonly #demandedBoots = pLimit(Math.max(2, availableParallelism()));
  readonly #spareBoots = pLimit(1);
  /** Machines whose templates are being started in them. */
  readonly #unready = new Set<Machine>();
  #isClosed = false;
  #problem: string | undefined;

  constructor(private readonly options: MachineSupplyOptions) {
    const { defaultTemplate, poolSize, budget } = options;
    budget.onShortage(() => this.#yieldSpare());
    if (defaultTemplate) this.#pool(defaultTemplate, poolSize);
  }

  /** The number of machines that wait to be claimed, by template. */
  get waiting(): ReadonlyMap<string, number> {
    return new Map([...this.#pools].map(([name, { pool }]) => [name, pool.ready]));
  }

  /** Starts to fill the warm pools. */
  fill(): void {
    for (const { pool } of this.#pools.values()) pool.fill();
  }

  /**
   * A machine for a new sandbox: a warm one, unless it mounts something, may have secrets, its API key has a PriorityClass, or the
   * limits of `wanted` differ from the template's.
   */
  claim(template: LocalTemplate, wanted: LocalTemplate, sandbox: NewSandbox): Promise<Machine> {
    const hasClass = this.options.priorityClass(sandbox.keyId) !== undefined;
    const isSpecial = sandbox.mounted.length > 0 || sandbox.secrets !== undefined || hasClass;
    if (isSpecial || !haveSameLimits(template, wanted))
      return this.boot(wanted, newSandboxId(), undefined, sandbox);
    const pool = this.#pool(template, 0);
    const isDefault = template.name === this.options.defaultTemplate?.name;
    if (!isDefault && this.options.poolSize > 0) this.#keepOneWaiting(template.name, pool);
    return this.#withStartProblems(() => pool.claim());
  }

  /** Boots a machine for a sandbox that already has an id, with the files that were saved of another machine, if any. */
  boot(
    template: LocalTemplate,
    id: string,
    saved: SavedFiles | undefined,
    sandbox: NewSandbox,
  ): Promise<Machine> {
    return this.#withStartProblems(() => this.#started(template, id, saved, sandbox));
  }

  /** The machine of a sandbox that an earlier control plane left running. Undefined if there is none. */
  async adopt({ template, id, restores }: SandboxRecord): Promise<Machine | undefined> {
    const { runtime, budget } = this.options;
    if (!runtime.adopt) return undefined;
    const release = await budget.reserve(template.limits);
    const machine = await this.#joined(template, { id, restores }, async (spec) =>
      runtime.adopt?.(spec),
    ).catch((error: unknown) => {
      release();
      throw error;
    });
    if (machine) void machine.exited.then(release);
    else release();
    return machine;
  }

  /** Ends the machine that is being started for a sandbox, if there is one. */
  abandon(id: string): void {
    for (const machine of this.#unready) if (machine.id === id) machine.destroy().catch(this.#logFailure);
  }

  /** Why no machine could be started the last time, if that was because of something on the host. */
  get problem(): string | undefined {
    return this.#problem;
  }

  readonly #logFailure = (error: unknown): void =>
    this.options.log(`Something of a machine that is no longer needed remains: ${String(error)}`);

  async close(): Promise<void> {
    this.#isClosed = true;
    // A template may need minutes to start.
    for (const machine of this.#unready) machine.destroy().catch(this.#logFailure);
    await Promise.all(
      [...this.#pools.values()].map(({ pool, idle }) => {
        clearTimeout(idle);
        return pool.close();
      }),
    );
  }

  /** Turns a failed start into a 503 problem that says what to do. */
  async #withStartProblems(machine: () => Promise<Machine>): Promise<Machine> {
    if (this.#isClosed) throw shuttingDown();
    const started = await machine().catch((error: unknown) => {
      if (error instanceof Problem) throw error;
      if (isOutOfDescriptors(error)) {
        const message = "No sandbox could be started, because this server cannot open any more files now.";
        throw new Problem(503, "RUNTIME_UNAVAILABLE", message, { hint: openFilesAdvice(), cause: error });
      }
      if (error instanceof HostProblemError) this.#problem = `No sandbox can be started: ${error.message}.`;
      const reason = error instanceof Error ? error.message : String(error);
      const advice = this.options.isElsewhere
        ? ""
        : ' "cloud-sandbox-local doctor" shows what this machine can isolate.';
      const message = `No sandbox could be started: ${reason.replace(/\.?$/, ".")}${advice}`;
      throw new Problem(503, "RUNTIME_UNAVAILABLE", message, { cause: error });
    });
    this.#problem = undefined;
    if (!this.#isClosed) return started;
    await started.destroy();
    throw shuttingDown();
  }

  #pool(template: LocalTemplate, size: number): WarmPool {
    const known = this.#pools.get(template.name);
    if (known?.template === template) return known.pool;
    // The template was rebuilt, so its warm machines are of the old build: drop them.
    if (known) this.#drop(template.name).catch(this.#logFailure);
    const { log } = this.options;
    const pool = new WarmPool({
      size,
      boot: () => this.#started(template, newSandboxId()),
      onWaiting: (machine) => this.#startDesktop(machine, template),
      packages: hostPackages,
      hasRoom: () => this.options.budget.hasRoom(template.limits),
      whenIdle: (work) => this.#spareBoots(() => this.#afterRequests(work)),
      onBootFailure: (error) => {
        const reason = error instanceof Error ? error.message : String(error);
        log(`A warm machine for template ${template.name} did not boot; trying again later: ${reason}`);
      },
    });
    this.#pools.set(template.name, { template, pool, idle: undefined });
    return pool;
  }

  /** Starts the desktop of a machine that waits: the first call of its owner would wait for that. */
  async #startDesktop(machine: Machine, { desktop }: LocalTemplate): Promise<void> {
    if (!desktop) return;
    const signal = AbortSignal.timeout(desktopStartMs);
    // The first call tries again, and says what is wrong.
    const { agents } = this.options;
    await agents.ask(machine, { method: "GET", path: "/desktop/display", signal }).catch(() => undefined);
  }

  #keepOneWaiting(name: string, pool: WarmPool): void {
    const entry = this.#pools.get(name);
    if (!entry || this.#isClosed) return;
    pool.resize(1).catch(this.#logFailure);
    clearTimeout(entry.idle);
    entry.idle = setTimeout(() => this.#drop(name).catch(this.#logFailure), idleMs).unref();
  }

  async #drop(name: string): Promise<void> {
    const entry = this.#pools.get(name);
    this.#pools.delete(name);
    clearTimeout(entry?.idle);
    await entry?.pool.close();
  }

  /** Runs background work once no request is in flight (or after a second) and no caller waits for a boot. */
  async #afterRequests(work: () => Promise<void>): Promise<void> {
    await this.options.activity.idle(spareBootDelayMs);
    while (this.#demandedBoots.activeCount > 0) await sleep(20, undefined, { ref: false });
    await work();
  }

  /** Ends one warm machine to make room for a sandbox; undefined if there is none. */
  #yieldSpare(): Promise<void> | undefined {
    for (const { pool } of this.#pools.values()) {
      const yielding = pool.yieldOne();
      if (yielding !== undefined) return yielding;
    }
    return undefined;
  }

  async #started(
    template: LocalTemplate,
    id: string,
    saved?: SavedFiles,
    sandbox?: NewSandbox,
  ): Promise<Machine> {
    const { budget, measureBoot = (boot) => boot() } = this.options;
    const release = await budget.reserve(template.limits);
    const machine = await this.#demandedBoots(() =>
      measureBoot(() => this.#start(template, id, saved, sandbox)),
    ).catch((error: unknown) => {
      release();
      throw error;
    });
    void machine.exited.then(() => {
      release();
      for (const { pool } of this.#pools.values()) pool.fill();
    });
    return machine;
  }

  async #start(
    template: LocalTemplate,
    id: string,
    saved: SavedFiles | undefined,
    { keyId, mounted, secrets, restores }: NewSandbox = { keyId: undefined, mounted: [], secrets: undefined },
  ): Promise<Machine> {
    const { runtime, agents, volumes, egress } = this.options;
    const priorityClass = this.options.priorityClass(keyId);
    const opened = mounted.length > 0 ? await volumes.open(mounted) : undefined;
    const machine = await this.#joined(template, { id, restores }, (spec) =>
      runtime.start({
        ...spec,
        ...(saved && isWholeDisk(saved) && { disk: saved.path }),
        mounts: opened?.mounts,
        priorityClass,
        authority: secrets && egress.authority,
      }),
    ).finally(() => opened?.release());
    this.#unready.add(machine);
    try {
      if (this.#isClosed) throw shuttingDown();
      if (saved && !isWholeDisk(saved)) await this.#unpack(machine, saved);
      await startTemplate(agents, machine, template);
      return machine;
    } catch (error) {
      await machine.destroy();
      throw error;
    } finally {
      this.#unready.delete(machine);
    }
  }

  /** Has the agent of a fresh machine unpack saved files. */
  async #unpack(machine: Machine, { path, places }: SavedFiles): Promise<void> {
    if (places && Object.keys(places).length === 0) return;
    await using file = await open(path);
    const archive = file.createReadStream({ highWaterMark: 2 ** 20 });
    await this.options.agents.putFiles(machine, archive, AbortSignal.timeout(unpackLimitMs), places);
  }

  /** Gives a machine that `find` starts or finds its way to the internet and its token, until it ends. */
  async #joined<Found extends Machine | undefined>(
    template: LocalTemplate,
    { id, restores }: Pick<SandboxRecord, "id" | "restores">,
    find: (spec: MachineSpec) => Promise<Found>,
  ): Promise<Found> {
    const { runtime, tokens, egress, layers, owner } = this.options;
    const { built } = template;
    const secret = runtime.adopt && (await tokens.machineSecret(id, restores));
    const releaseLayers = layers.hold(built?.layers ?? []);
    const sandboxEgress = egress.open(id);
    const release = (): void => {
      egress.close(sandboxEgress);
      releaseLayers();
    };
    const finding = async (): Promise<Found> =>
      find({
        id,
        template: template.name,
        image: template.image,
        limits: template.limits,
        publicKey: await tokens.publicKey(),
        ...(secret !== undefined && { secret, owner }),
        languages: template.languages.map(({ language }) => language),
        desktop: template.desktop,
        egress: (connection) => sandboxEgress.accept(connection),
        ...(built && { layers: built.layers, isImage: built.isImage }),
        ...(built && { environment: built.environment, workdir: built.workdir, user: built.user }),
      });
    const machine = await finding().catch((error: unknown) => {
      release();
      throw error;
    });
    if (!machine) {
      release();
      return machine;
    }
    tokens.prepare(id);
    void machine.exited.then(() => {
      tokens.forget(id);
      release();
      if (built) layers.collect().catch(this.#logFailure);
    });
    return machine;
  }
}

interface TemplatePool {
  readonly template: LocalTemplate;
  readonly pool: WarmPool;
  /** Closes the pool after the template was not used for `idleMs`. */
  idle: NodeJS.Timeout | undefined;
}

const shuttingDown = (): Problem =>
  new Problem(503, "RUNTIME_UNAVAILABLE", "This control plane is shutting down.");

/** Counts requests in flight, so that background work can wait until there are none. */
export class Activity {
  #inFlight = 0;
  #whenIdle: (() => void)[] = [];

  /** Counts one request as in flight, until the returned function is called, or for `limitMs` at most. */
  begin(limitMs?: number): () => void {
    this.#inFlight += 1;
    let limit: NodeJS.Timeout | undefined;
    let hasEnded = false;
    const end = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(limit);
      this.#inFlight -= 1;
      if (this.#inFlight > 0) return;
      const waiting = this.#whenIdle;
      this.#whenIdle = [];
      for (const resolve of waiting) resolve();
    };
    if (limitMs !== undefined) limit = setTimeout(end, limitMs).unref();
    return end;
  }

  /** Resolves when no request is in flight, at the latest after `limitMs`, because a busy server may never be idle. */
  async idle(limitMs: number): Promise<void> {
    if (this.#inFlight === 0) return;
    let limit: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenIdle.push(resolve);
      limit = setTimeout(resolve, limitMs).unref();
    });
    clearTimeout(limit);
  }
}

/** A new sandbox id in the cloud's format: seconds since 1970, then eight random base-36 characters. */
export function newSandboxId(): string {
  const random = randomBytes(8).readBigUInt64LE().toString(36).padStart(8, "0").slice(-8);
  return `${Math.floor(Date.now() / 1000)}${random}`;
}
