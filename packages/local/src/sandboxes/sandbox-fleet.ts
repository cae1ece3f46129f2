import { Problem } from "@cloud-sandbox/server-kit";
import {
  type CreateRequest,
  type EndedSandbox,
  isAsleep,
  nameTaken,
  otherTemplate,
  type SandboxUpdate,
  sandboxFailed,
  templateNotFound,
  templateNotReady,
} from "@cloud-sandbox/server-kit/handlers";
import type { LocalTemplate, TemplateCatalogue } from "../catalogue/template-catalogue.js";
import { messageOf } from "../errors/message-of.js";
import { type IsolationLevel, isAtLeast, type Machine } from "../runtime/sandbox-runtime.js";
import type { SandboxFiles } from "../saved/sandbox-files.js";
import type { Snapshots } from "../saved/snapshots.js";
import { Baselines } from "./baselines.js";
import { Deadlines } from "./deadlines.js";
import { FleetRestart } from "./fleet-restart.js";
import { SandboxAccess } from "./sandbox-access.js";
import { SandboxActivity } from "./sandbox-activity.js";
import { type LifecycleParts, SandboxLifecycle } from "./sandbox-lifecycle.js";
import { type MakerParts, type Origin, type OwnedCreateRequest, SandboxMaker } from "./sandbox-maker.js";
import {
  cannotStop,
  hasFailed,
  nameOfKey,
  requireSleepPossible,
  type SandboxRecord,
} from "./sandbox-record.js";
import { SandboxSleep, type SleepParts } from "./sandbox-sleep.js";
import { SandboxSnapshots } from "./sandbox-snapshots.js";
import { SandboxWaker } from "./sandbox-waker.js";

export interface FleetOptions
  extends Pick<LifecycleParts, "keepStoppedSeconds">,
    Omit<MakerParts, "onMade">,
    Pick<SleepParts, "hasMemory" | "onSleep"> {
  readonly files: SandboxFiles;
  readonly templates: TemplateCatalogue;
  readonly snapshots: Snapshots;
  readonly isolation: IsolationLevel;
  /** Whether sandboxes are stopped, not deleted, when the control plane closes. */
  readonly isKept: boolean;
  /** Measures work that starts a sandbox for the requests that wait for it. */
  readonly measureWake?: ((work: () => Promise<void>) => Promise<void>) | undefined;
  /** Whether sandboxes go on without a control plane when it closes, until the next one adopts them. */
  readonly leavesRunning: boolean;
  /** Whether sandboxes of the last control plane are listed before it is known whether their machines go on. */
  readonly adoptsLater: boolean;
  readonly log: (message: string) => void;
}

export type TemplateRequest = Partial<Pick<CreateRequest, "template" | "minIsolation">>;

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
  readonly #maker: SandboxMaker;
  readonly snapshots: SandboxSnapshots;
  /** What sandboxes are compared with. */
  readonly baselines: Baselines;

  constructor(private readonly options: FleetOptions) {
    const { measureWake = (work) => work() } = options;
    const own = { ...options, deadlines: this.#deadlines, activity: this.activity };
    this.#lifecycle = new SandboxLifecycle(own);
    const parts = { ...own, lifecycle: this.#lifecycle };
    this.#restart = new FleetRestart(parts);
    this.#sleep = new SandboxSleep(parts);
    this.waker = new SandboxWaker((sandbox) => measureWake(() => this.#lifecycle.wake(sandbox)));
    this.access = new SandboxAccess(parts);
    this.#maker = new SandboxMaker({ ...options, onMade: (...made) => this.#made(...made) });
    this.snapshots = new SandboxSnapshots({ ...parts, maker: this.#maker });
    this.baselines = new Baselines(options);
  }

  /** Loads the sandboxes of the previous control plane. */
  async restore(): Promise<void> {
    for (const sandbox of await this.#restart.restore()) this.#begin(sandbox);
  }

  async create(request: OwnedCreateRequest): Promise<SandboxRecord> {
    return this.#create(await this.#origin(request), request);
  }

  /** Takes the name of the request when it returns. */
  async #create(origin: Origin, request: OwnedCreateRequest): Promise<SandboxRecord> {
    const { name, keyId } = request;
    if (name === undefined) return this.#maker.make(origin, request);
    const keyedName = nameOfKey(name, keyId);
    if (this.#names.has(keyedName) || this.options.registry.findByName(name, keyId)) throw nameTaken(name);
    const making = this.#maker.make(origin, request).finally(() => this.#names.delete(keyedName));
    this.#names.set(keyedName, making);
    return making;
  }

  /** The running sandbox with that name. It is created, started, resumed, or replaced if it failed. Its deadline only moves later. */
  async getOrCreate(
    request: OwnedCreateRequest & { readonly name: string },
  ): Promise<{ sandbox: SandboxRecord; isNew: boolean }> {
    const { registry } = this.options;
    const { name, keyId } = request;
    const origin = await this.#origin(request);
    const { template } = origin;
    const keyedName = nameOfKey(name, keyId);
    // A loop, because a sandbox of that name may be created, deleted or fail during each wait.
    for (;;) {
      const sandbox = (await this.#names.get(keyedName)) ?? registry.findByName(name, keyId);
      if (!sandbox) {
        if (this.#names.has(keyedName)) continue;
        return { sandbox: await this.#create(origin, request), isNew: true };
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
    // Why the sandbox could not be stopped at the deadline before.
    const outdated = hasFailed(sandbox) ? {} : { failureReason: undefined };
    await this.options.registry.change(sandbox, { ...outdated, timeoutSeconds, expiresAt });
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

  async restoreTo(id: string, snapshot: string): Promise<SandboxRecord> {
    return this.#use(id, (sandbox) => this.snapshots.restore(sandbox, snapshot));
  }

  /** Does something that no step of the sandbox may come between. */
  readonly between: SandboxLifecycle["between"] = (...of) => this.#lifecycle.between(...of);

  /** Starts a sandbox that sleeps, for a request that waits. Throws the problem that says why it does not run. */
  readonly wake = (id: string): Promise<void> => this.waker.wake(this.get(id));

  async update(id: string, { metadata, sleep }: SandboxUpdate): Promise<SandboxRecord> {
    const sandbox = this.get(id);
    await this.#lifecycle.update(sandbox, () => {
      const wanted = { ...sandbox.sleep, ...sleep };
      requireSleepPossible(wanted, this.options);
      return { metadata: metadata ?? sandbox.metadata, sleep: wanted };
    });
    this.#sleep.watch(sandbox);
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
    const noMoreBaselines = this.baselines.close();
    if (!isElsewhere) await Promise.all([this.#maker.settled(), noMoreBaselines]);
    this.#lifecycle.endSnapshots();
    if (isKept) await this.#restart.keepAll();
    else await Promise.all(this.list().map(({ id }) => this.#end(id, "deleted")));
    const lost = this.list().filter(({ machine, status }) => machine !== undefined && status !== "error");
    this.#lifecycle.close();
    await Promise.all(this.list().map(({ machine }) => machine?.destroy()));
    await noMoreMachines;
    return lost.length;
  }

  /** The template that a request names. Throws a problem if it does not exist, or if the runtime isolates less than requested. */
  template({ template: nameOrId = "", minIsolation }: TemplateRequest): LocalTemplate {
    const { templates } = this.options;
    const template = templates.find(nameOrId);
    if (!template)
      throw templateNotFound(
        nameOrId,
        templates.list().map(({ name }) => name),
        templates.advice(nameOrId),
      );
    if (template.built && template.built.status !== "active")
      throw templateNotReady(template.name, template.built.status);
    this.#requireIsolation(minIsolation);
    return template;
  }

  async #origin(request: OwnedCreateRequest): Promise<Origin> {
    const { snapshot, minIsolation } = request;
    if (snapshot === undefined) return { template: this.template(request) };
    this.#requireIsolation(minIsolation);
    return this.snapshots.origin(snapshot, request);
  }

  #requireIsolation(minIsolation: IsolationLevel | undefined): void {
    const { isolation } = this.options;
    if (minIsolation && !isAtLeast(isolation, minIsolation)) {
      const message = `Isolation "${minIsolation}" is not available on this machine, which offers "${isolation}".`;
      throw new Problem(400, "ISOLATION_UNAVAILABLE", message, {
        hint: 'Lower min_isolation, or use another backend. "cloud-sandbox-local doctor" shows what the server\'s machine can isolate, and how.',
      });
    }
  }

  #made(sandbox: SandboxRecord, machine: Machine): void {
    this.#begin(sandbox);
    this.#lifecycle.watch(sandbox, machine);
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
