import { Problem } from "@cloud-sandbox/server-kit";
import {
  type CreateRequest,
  type EndedSandbox,
  nameTaken,
  otherTemplate,
  sandboxFailed,
  templateNotFound,
  templateNotReady,
  withOwnLimits,
} from "@cloud-sandbox/server-kit/handlers";
import pLimit from "p-limit";
import type { AgentCalls } from "../agents/agent-calls.js";
import { grantLimits, type LocalTemplate, type TemplateCatalogue } from "../catalogue/template-catalogue.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { egressRules } from "../egress/egress-policy.js";
import { checkedSecrets } from "../egress/secrets/checked-secrets.js";
import { type IsolationLevel, isAtLeast, type Machine } from "../runtime/sandbox-runtime.js";
import type { LayerStore } from "../store/layer-store.js";
import type { StoredSandbox } from "../store/sandbox-repository.js";
import type { KeyCooldowns } from "../tokens/key-ring.js";
import type { Volumes } from "../volumes/volumes.js";
import { Deadlines } from "./deadlines.js";
import type { MachineSupply } from "./machine-supply.js";
import { placeholders, requireOwnNames, SandboxAccess } from "./sandbox-access.js";
import { filesAreGone, type SandboxFiles } from "./sandbox-files.js";
import { SandboxLifecycle } from "./sandbox-lifecycle.js";
import { asRecorded, cannotStop, hasFailed, nameOfKey, type SandboxRecord } from "./sandbox-record.js";
import type { SandboxRegistry } from "./sandbox-registry.js";
import type { SandboxSlots } from "./sandbox-slots.js";

/** Milliseconds that a shutdown waits for files to be saved, and how many sandboxes save theirs at a time. */
const shutdownMs = 20_000;
const savesAtATime = 4;
const adoptionsAtATime = 64;

export interface FleetOptions {
  readonly registry: SandboxRegistry;
  readonly machines: MachineSupply;
  readonly agents: AgentCalls;
  readonly files: SandboxFiles;
  readonly layers: LayerStore;
  readonly templates: TemplateCatalogue;
  readonly egress: EgressGateway;
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
  readonly lifecycle: SandboxLifecycle;
  readonly access: SandboxAccess;
  /** Sandboxes that are being created, by API key and name, because two creates of one name must not run at once. */
  readonly #names = new Map<string, Promise<SandboxRecord>>();
  /** All sandboxes that are being created. */
  readonly #making = new Set<Promise<SandboxRecord>>();
  /** The sandboxes whose machines are still looked for, since the last control plane ended. */
  readonly #adopting = new Map<string, Promise<void>>();

  constructor(private readonly options: FleetOptions) {
    this.lifecycle = new SandboxLifecycle(options);
    this.access = new SandboxAccess({ ...options, lifecycle: this.lifecycle });
  }

  /**
   * Loads the sandboxes of the previous control plane. Stopped ones can be started again. Running ones go on if their machines do,
   * and are marked as failed otherwise.
   */
  async restore(): Promise<readonly SandboxRecord[]> {
    const { registry, files, isKept, keepsFiles, adoptsLater, log } = this.options;
    if (!isKept) return [];
    const sandboxes = await registry.restore((stored) => this.#revive(stored));
    const limit = pLimit(adoptionsAtATime);
    const running = sandboxes.filter(({ status }) => status === "running" || status === "paused");
    for (const sandbox of running) {
      const adopting = this.lifecycle
        .adopt(sandbox, () => limit(() => this.#machineOf(sandbox)))
        // It was deleted meanwhile.
        .catch(() => undefined)
        .finally(() => this.#adopting.delete(sandbox.id));
      this.#adopting.set(sandbox.id, adopting);
    }
    const adopted = Promise.all(this.#adopting.values()).then(() => {
      const count = running.filter(({ machine }) => machine !== undefined).length;
      if (count > 0) log(`Sandboxes that have gone on without a server: ${count}.`);
    });
    if (!adoptsLater) await adopted;
    const stopped = sandboxes.filter(({ status }) => status === "stopped");
    const kept = keepsFiles ? await files.keepOnly(new Set(stopped.map(({ id }) => id))) : new Set();
    for (const sandbox of stopped)
      if (!kept.has(sandbox.id)) registry.note(sandbox, { status: "error", failureReason: filesAreGone });
    if (keepsFiles) await this.options.volumes.copies.keepOnly(sandboxes);
    for (const { id, expiresAt } of sandboxes) this.#deadlines.set(id, expiresAt);
    return sandboxes;
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
        await this.lifecycle.wake(sandbox);
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
    return this.#adopting.get(id);
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
    return this.#step(id, (sandbox) => this.lifecycle.pause(sandbox));
  }

  async resume(id: string): Promise<SandboxRecord> {
    return this.#step(id, (sandbox) => this.lifecycle.resume(sandbox));
  }

  async stop(id: string): Promise<SandboxRecord> {
    if (!this.options.keepsFiles) throw cannotStop(this.get(id).id);
    return this.#step(id, (sandbox) => this.lifecycle.stop(sandbox));
  }

  async start(id: string): Promise<SandboxRecord> {
    return this.#step(id, (sandbox) => this.lifecycle.start(sandbox));
  }

  /**
   * Leaves sandboxes running if `leavesRunning`; else stops them if `isKept`; else deletes them. Resolves with the number of
   * sandboxes whose files could not be saved.
   */
  async close(): Promise<number> {
    const { machines, isKept, isElsewhere } = this.options;
    this.#deadlines.clearAll();
    const noMoreMachines = machines.close();
    // Creates are refused from now on. Those under way are waited for, because the runtime is closed next. Machines on other hosts
    // may take minutes to start, and end by themselves without their server.
    if (!isElsewhere) await Promise.allSettled(this.#making);
    if (isKept) await this.#keepAll();
    else await Promise.all(this.list().map(({ id }) => this.#end(id, "deleted")));
    const lost = this.list().filter(({ machine, status }) => machine !== undefined && status !== "error");
    this.lifecycle.close();
    await Promise.all(this.list().map(({ machine }) => machine?.destroy()));
    await noMoreMachines;
    return lost.length;
  }

  async #keepAll(): Promise<void> {
    const { leavesRunning, log } = this.options;
    const limit = pLimit(savesAtATime);
    const late = new Promise<void>((resolve) => void setTimeout(resolve, shutdownMs).unref());
    const keep = (sandbox: SandboxRecord): Promise<void> =>
      leavesRunning ? this.lifecycle.leave(sandbox) : this.lifecycle.stop(sandbox);
    const kept = this.list().map((sandbox) =>
      limit(() =>
        keep(sandbox).catch((error: unknown) => {
          if (sandbox.status !== "error") log(describe(error));
        }),
      ),
    );
    await Promise.race([Promise.all(kept), late]);
    limit.clearQueue();
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
    const secrets = request.secrets && checkedSecrets(request.secrets, egress.policy(rules));
    requireOwnNames(request.secrets, request.environment);
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
    const { timeoutSeconds, name, metadata, idempotency, keyId } = request;
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
    };
    await this.options.registry.add(sandbox);
    this.#deadlines.set(sandbox.id, sandbox.expiresAt);
    this.lifecycle.watch(sandbox, machine);
    return sandbox;
  }

  #revive(stored: StoredSandbox): SandboxRecord {
    // A built template may have been rebuilt since: the sandbox keeps the layers it was created with.
    const current = stored.template.built ? undefined : this.options.templates.find(stored.template.name);
    const template = current ? withOwnLimits(current, stored.template.ownLimits) : stored.template;
    const secrets = this.options.registry.secretsOf(stored);
    return { ...stored, template, secrets, machine: undefined, isStopping: false };
  }

  /** The machine of a sandbox that an earlier control plane left running, or why the sandbox has failed. */
  async #machineOf(sandbox: SandboxRecord): Promise<Machine | string> {
    const { machines, log } = this.options;
    try {
      const machine = await machines.adopt(sandbox.template, sandbox.id);
      if (machine) return await asRecorded(sandbox, machine);
    } catch (error) {
      const reason = describe(error);
      log(`Sandbox ${sandbox.id} ran when the last control plane ended, and is lost: ${reason}`);
      return `The control plane ended while the sandbox was running, and the next one could not reach its machine: ${reason}`;
    }
    return "The control plane ended while the sandbox was running, and its machine is gone, so the sandbox's processes and files are lost.";
  }

  async #step(id: string, take: (sandbox: SandboxRecord) => Promise<void>): Promise<SandboxRecord> {
    const sandbox = this.get(id);
    if (sandbox.status === "error") throw sandboxFailed(sandbox);
    await take(sandbox);
    return sandbox;
  }

  #expire(id: string): void {
    this.#end(id, "expired").catch((error: unknown) =>
      this.options.log(`Sandbox ${id} could not be removed completely: ${describe(error)}`),
    );
  }

  async #end(id: string, end: EndedSandbox["end"]): Promise<void> {
    const sandbox = this.get(id);
    const leave = this.options.slots.hold(sandbox.keyId);
    try {
      await this.options.registry.end(id, end);
      this.#deadlines.clear(id);
      await this.lifecycle.remove(sandbox);
    } finally {
      leave();
    }
  }
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));
