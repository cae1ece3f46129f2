import { Problem } from "@cloud-sandbox/server-kit";
import {
  type CreateRequest,
  type EndedSandbox,
  isAsleep,
  nameTaken,
  otherTemplate,
  requestedSecrets,
  type SandboxUpdate,
  sandboxFailed,
  templateNotFound,
  templateNotReady,
} from "@cloud-sandbox/server-kit/handlers";
import type { AgentCalls } from "../agents/agent-calls.js";
import { grantLimits, type LocalTemplate, type TemplateCatalogue } from "../catalogue/template-catalogue.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { egressRules } from "../egress/egress-policy.js";
import { checkedSecrets } from "../egress/secrets/checked-secrets.js";
import type { StoredSecrets } from "../egress/secrets/stored-secrets.js";
import { messageOf } from "../errors/message-of.js";
import { type IsolationLevel, isAtLeast, type Machine } from "../runtime/sandbox-runtime.js";
import type { LayerStore } from "../store/layer-store.js";
import type { KeyCooldowns } from "../tokens/key-ring.js";
import type { Volumes } from "../volumes/volumes.js";
import { Deadlines } from "./deadlines.js";
import { FleetRestart } from "./fleet-restart.js";
import type { MachineSupply } from "./machine-supply.js";
import { placeholders, requireOwnNames, SandboxAccess } from "./sandbox-access.js";
import { SandboxActivity } from "./sandbox-activity.js";
import type { SandboxFiles } from "./sandbox-files.js";
import { type LifecycleParts, SandboxLifecycle } from "./sandbox-lifecycle.js";
import {
  cannotStop,
  hasFailed,
  nameOfKey,
  requireSleepPossible,
  type SandboxRecord,
} from "./sandbox-record.js";
import type { SandboxRegistry } from "./sandbox-registry.js";
import { SandboxSleep, type SleepParts } from "./sandbox-sleep.js";
import type { SandboxSlots } from "./sandbox-slots.js";
import { SandboxWaker } from "./sandbox-waker.js";

export interface FleetOptions
  extends Pick<LifecycleParts, "keepStoppedSeconds">,
    Pick<SleepParts, "hasMemory" | "onSleep"> {
  readonly registry: SandboxRegistry;
  readonly machines: MachineSupply;
  readonly agents: AgentCalls;
  readonly files: SandboxFiles;
  readonly layers: LayerStore;
  readonly templates: TemplateCatalogue;
  readonly egress: EgressGateway;
  readonly storedSecrets: StoredSecrets;
  readonly volumes: Volumes;
  readonly isolation: IsolationLevel;
  /** Whether machines run on other hosts. */
  readonly isElsewhere: boolean;
  readonly slots: SandboxSlots;
  readonly cooldowns: KeyCooldowns;
  /** Whether sandboxes are stopped, not deleted, when the control plane closes. */
  readonly isKept: boolean;
  /** Whether files of stopped sandboxes are kept. If not, sandboxes cannot be stopped. */
  readonly keepsFiles: boolean;
  /** Why machines cannot be paused. Undefined if they can. */
  readonly withoutPause: string | undefined;
  /** Measures work that starts a sandbox for the requests that wait for it. */
  readonly measureWake?: ((work: () => Promise<void>) => Promise<void>) | undefined;
  /** Whether sandboxes go on without a control plane when it closes, until the next one adopts them. */
  readonly leavesRunning: boolean;
  /** Whether sandboxes of the last control plane are listed before it is known whether their machines go on. */
  readonly adoptsLater: boolean;
  readonly log: (message: string) => void;
}

/** A create request with the API key that sent it. */
export interface OwnedCreateRequest extends CreateRequest {
  /** Undefined for the server's own key. */
  readonly keyId: string | undefined;
}

/** All sandboxes of this machine. Deletion and expiry end a sandbox through the same code, `#end`. */
export class SandboxFleet {
  readonly #deadlines = new Deadlines((id) => this.#expire(id));
  readonly #lifecycle: SandboxLifecycle;
  readonly #sleep: SandboxSleep;
  readonly #restart: FleetRestart;
  readonly access: SandboxAccess;
  /** When sandboxes were used last. */
  readonly activity = new SandboxActivity();
  /** Starts sandboxes that sleep for requests that wait. */
  readonly waker: SandboxWaker;
  /** Sandboxes that are being created, by API key and name, because two creates of one name must not run at once. */
  readonly #names = new Map<string, Promise<SandboxRecord>>();
  /** All sandboxes that are being created. */
  readonly #making = new Set<Promise<SandboxRecord>>();

  constructor(private readonly options: FleetOptions) {
    const { measureWake = (work) => work() } = options;
    const own = { ...options, deadlines: this.#deadlines, activity: this.activity };
    this.#lifecycle = new SandboxLifecycle(own);
    const parts = { ...own, lifecycle: this.#lifecycle };
    this.#restart = new FleetRestart(parts);
    this.#sleep = new SandboxSleep(parts);
    this.waker = new SandboxWaker((sandbox) => measureWake(() => this.#lifecycle.wake(sandbox)));
    this.access = new SandboxAccess(parts);
  }

  /** Loads the sandboxes of the previous control plane. */
  async restore(): Promise<void> {
    for (const sandbox of await this.#restart.restore()) this.#begin(sandbox);
  }

  async create(request: OwnedCreateRequest): Promise<SandboxRecord> {
    const template = this.template(request);
    const { name, keyId } = request;
    if (name === undefined) return this.#make(template, request);
    const keyedName = nameOfKey(name, keyId);
    if (this.#names.has(keyedName) || this.options.registry.findByName(name, keyId)) throw nameTaken(name);
    const making = this.#make(template, request).finally(() => this.#names.delete(keyedName));
    this.#names.set(keyedName, making);
    return making;
  }

  /** The running sandbox with that name. It is created, started, resumed, or replaced if it failed. Its deadline only moves later. */
  async getOrCreate(
    request: OwnedCreateRequest & { readonly name: string },
  ): Promise<{ sandbox: SandboxRecord; isNew: boolean }> {
    const { registry } = this.options;
    const { name, keyId } = request;
    const template = this.template(request);
    const keyedName = nameOfKey(name, keyId);
    // A loop, because a sandbox of that name may be created, deleted or fail during each wait.
    for (;;) {
      const sandbox = (await this.#names.get(keyedName)) ?? registry.findByName(name, keyId);
      if (!sandbox) {
        if (this.#names.has(keyedName)) continue;
        return { sandbox: await this.create(request), isNew: true };
      }
      if (hasFailed(sandbox)) {
        if (registry.has(sandbox.id)) await this.delete(sandbox.id);
        continue;
      }
      if (sandbox.template.name !== template.name) throw otherTemplate(name, sandbox.template.name);
      try {
        await this.#lifecycle.wake(sandbox);
        this.activity.note(sandbox);
        const wanted = Date.now() + request.timeoutSeconds * 1000;
        if (wanted > sandbox.expiresAt.getTime()) await this.setTimeout(sandbox.id, request.timeoutSeconds);
        return { sandbox, isNew: false };
      } catch (error) {
        if (registry.has(sandbox.id) && !hasFailed(sandbox)) throw error;
      }
    }
  }

  list(): readonly SandboxRecord[] {
    return this.options.registry.list();
  }

  /** The sandbox. Throws the 404 or 410 problem that says why there is none. */
  get(id: string): SandboxRecord {
    return this.options.registry.get(id);
  }

  /** Resolves when it is known whether the machine of a sandbox goes on that an earlier control plane had. */
  settled(id: string): Promise<void> | undefined {
    return this.#restart.settled(id);
  }

  has(id: string): boolean {
    return this.options.registry.has(id);
  }

  /** The number of sandboxes of an API key. */
  countOf(keyId: string): number {
    return this.options.registry.countOf(keyId);
  }

  /** Whether the API key created a sandbox with this id, which may have ended. */
  isOf(keyId: string, id: string): boolean {
    return this.options.registry.isOf(keyId, id);
  }

  /** Deletes a sandbox. Resolves when its processes have ended and its files are removed. */
  async delete(id: string): Promise<void> {
    this.get(id);
    await this.#end(id, "deleted");
  }

  async setTimeout(id: string, timeoutSeconds: number): Promise<SandboxRecord> {
    const sandbox = this.get(id);
    const expiresAt = new Date(Date.now() + timeoutSeconds * 1000);
    await this.options.registry.change(sandbox, { timeoutSeconds, expiresAt });
    if (this.has(id)) this.#deadlines.set(id, sandbox.expiresAt);
    return sandbox;
  }

  async pause(id: string): Promise<SandboxRecord> {
    return this.#step(id, (sandbox) => this.#lifecycle.pause(sandbox));
  }

  async resume(id: string): Promise<SandboxRecord> {
    return this.#use(id, (sandbox) => this.#lifecycle.resume(sandbox));
  }

  async stop(id: string): Promise<SandboxRecord> {
    if (!this.options.keepsFiles) throw cannotStop(this.get(id).id);
    return this.#step(id, (sandbox) => this.#lifecycle.stop(sandbox));
  }

  async start(id: string): Promise<SandboxRecord> {
    return this.#use(id, (sandbox) => this.#lifecycle.start(sandbox));
  }

  /** Does something that no step of the sandbox may come between. */
  readonly between: SandboxLifecycle["between"] = (...of) => this.#lifecycle.between(...of);

  /** Starts a sandbox that sleeps, for a request that waits. Throws the problem that says why it does not run. */
  readonly wake = (id: string): Promise<void> => this.waker.wake(this.get(id));

  async update(id: string, { metadata, sleep }: SandboxUpdate): Promise<SandboxRecord> {
    const sandbox = this.get(id);
    await this.#lifecycle.between(sandbox, async () => {
      const wanted = { ...sandbox.sleep, ...sleep };
      requireSleepPossible(wanted, this.options);
      await this.options.registry.change(sandbox, { ...(metadata && { metadata }), sleep: wanted });
      this.#sleep.watch(sandbox);
    });
    return sandbox;
  }

  /**
   * Leaves sandboxes running if `leavesRunning`; else stops them if `isKept`; else deletes them. Resolves with the number of
   * sandboxes whose files could not be saved.
   */
  async close(): Promise<number> {
    const { machines, isKept, isElsewhere } = this.options;
    this.#deadlines.clearAll();
    this.#sleep.close();
    const noMoreMachines = machines.close();
    // Creates are refused from now on. Those under way are waited for, because the runtime is closed next. Machines on other hosts
    // may take minutes to start, and end by themselves without their server.
    if (!isElsewhere) await Promise.allSettled(this.#making);
    if (isKept) await this.#restart.keepAll();
    else await Promise.all(this.list().map(({ id }) => this.#end(id, "deleted")));
    const lost = this.list().filter(({ machine, status }) => machine !== undefined && status !== "error");
    this.#lifecycle.close();
    await Promise.all(this.list().map(({ machine }) => machine?.destroy()));
    await noMoreMachines;
    return lost.length;
  }

  /** The template that a request names. Throws a problem if it does not exist, or if the runtime isolates less than requested. */
  template({
    template: nameOrId,
    minIsolation,
  }: Pick<CreateRequest, "template" | "minIsolation">): LocalTemplate {
    const { templates, isolation } = this.options;
    const template = templates.find(nameOrId);
    if (!template)
      throw templateNotFound(
        nameOrId,
        templates.list().map(({ name }) => name),
        templates.advice(nameOrId),
      );
    if (template.built && template.built.status !== "active")
      throw templateNotReady(template.name, template.built.status);
    if (minIsolation && !isAtLeast(isolation, minIsolation)) {
      const message = `Isolation "${minIsolation}" is not available on this machine, which offers "${isolation}".`;
      throw new Problem(400, "ISOLATION_UNAVAILABLE", message, {
        hint: 'Lower min_isolation, or use another backend. "cloud-sandbox-local doctor" shows what the server\'s machine can isolate, and how.',
      });
    }
    return template;
  }

  #make(template: LocalTemplate, request: OwnedCreateRequest): Promise<SandboxRecord> {
    const making = this.#makeOne(template, request);
    this.#making.add(making);
    return making.finally(() => this.#making.delete(making));
  }

  async #makeOne(template: LocalTemplate, request: OwnedCreateRequest): Promise<SandboxRecord> {
    const { slots, cooldowns, machines, agents, egress, layers, volumes, isElsewhere } = this.options;
    const limited = grantLimits(template, request.limits, isElsewhere);
    const mounted = volumes.requested(request.mounts, request.keyId);
    const rules = egressRules(request.egress);
    const find = (from: string) => this.options.storedSecrets.get(from, request.keyId);
    const wanted = requestedSecrets(template, request);
    const secrets = wanted && checkedSecrets(wanted, { policy: egress.policy(rules), find });
    requireOwnNames(wanted, request.environment);
    requireSleepPossible(request.sleep, this.options);
    cooldowns.requireOver(request.keyId);
    slots.requireSlot(request.keyId);
    // Hold a slot until the registry counts the sandbox.
    const leave = slots.hold(request.keyId);
    const releaseVolumes = volumes.hold(mounted);
    // The template may be deleted or replaced before its machine is started.
    const releaseLayers = layers.hold(template.built?.layers ?? []);
    try {
      await this.options.registry.requireWritable();
      const machine = await machines.claim(template, limited, { keyId: request.keyId, mounted, secrets });
      try {
        egress.setRules(machine.id, rules);
        egress.setSecrets(machine.id, secrets ?? []);
        await volumes.copies.begin(machine.id, mounted);
        await agents.mergeEnvironment(machine, { ...request.environment, ...placeholders(secrets ?? []) });
        return await this.#register(machine, limited, request, { mounted, secrets });
      } catch (error) {
        await machine.destroy();
        throw error;
      }
    } finally {
      releaseLayers();
      releaseVolumes();
      leave();
    }
  }

  async #register(
    machine: Machine,
    template: LocalTemplate,
    request: OwnedCreateRequest,
    { mounted, secrets }: Pick<SandboxRecord, "mounted" | "secrets">,
  ): Promise<SandboxRecord> {
    const { timeoutSeconds, name, metadata, idempotency, keyId, sleep } = request;
    const { egress } = this.options;
    const createdAt = new Date();
    const sandbox: SandboxRecord = {
      id: machine.id,
      template,
      machine,
      isolation: machine.isolation,
      createdAt,
      name,
      metadata,
      egress: request.egress,
      mounted,
      secrets,
      ...(secrets && { authority: egress.authorityId }),
      idempotency,
      keyId,
      status: "running",
      isStopping: false,
      timeoutSeconds,
      expiresAt: new Date(createdAt.getTime() + timeoutSeconds * 1000),
      failureReason: undefined,
      sleep,
      stopReason: undefined,
    };
    await this.options.registry.add(sandbox);
    this.#begin(sandbox);
    this.#lifecycle.watch(sandbox, machine);
    return sandbox;
  }

  /** Counts the time until the deadline of a sandbox, and its idle time, which begins now. */
  #begin(sandbox: SandboxRecord): void {
    this.#deadlines.set(sandbox.id, sandbox.expiresAt);
    this.activity.note(sandbox);
    this.#sleep.watch(sandbox);
  }

  async #step(id: string, take: (sandbox: SandboxRecord) => Promise<void>): Promise<SandboxRecord> {
    const sandbox = this.get(id);
    if (sandbox.status === "error") throw sandboxFailed(sandbox);
    await take(sandbox);
    return sandbox;
  }

  /** Makes a sandbox run, which counts as a use of it. */
  #use(id: string, take: (sandbox: SandboxRecord) => Promise<void>): Promise<SandboxRecord> {
    return this.#step(id, async (sandbox) => {
      await take(sandbox);
      this.activity.note(sandbox);
    });
  }

  #expire(id: string): void {
    if (!this.has(id)) return;
    const sandbox = this.get(id);
    const { status, sleep } = sandbox;
    if (!hasFailed(sandbox) && !isAsleep(status) && sleep.onTimeout !== "delete")
      return void this.#sleep.atDeadline(sandbox);
    this.#end(id, "expired").catch((error: unknown) =>
      this.options.log(`Sandbox ${id} could not be removed completely: ${messageOf(error)}`),
    );
  }

  async #end(id: string, end: EndedSandbox["end"]): Promise<void> {
    const sandbox = this.get(id);
    const leave = this.options.slots.hold(sandbox.keyId);
    try {
      await this.options.registry.end(id, end);
      this.#deadlines.clear(id);
      this.#sleep.forget(id);
      await this.#lifecycle.remove(sandbox);
    } finally {
      leave();
    }
  }
}
