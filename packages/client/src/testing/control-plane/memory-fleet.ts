import {
  type Created,
  type CreateRequest,
  type EndedSandbox,
  type EventFacts,
  type EventType,
  type Fleet,
  isAsleep,
  type MemoryEvents,
  nameTaken,
  otherTemplate,
  requestedSecrets,
  type SandboxFacts,
  type SandboxUpdate,
  type SecretFacts,
  type SleepSettings,
  type SnapshotRequest,
  type StopReason,
  sandboxEnded,
  sandboxNotFound,
  sandboxPaused,
  sandboxStopped,
  snapshotOfOther,
  templateNotReady,
  withOwnLimits,
} from "@cloud-sandbox/server-kit/handlers";
import { Machine } from "../agent/machine.js";
import type { ProgramRequest, RunningProgram } from "../agent/running-program.js";
import { EgressLog } from "../memory/egress-log.js";
import { MemoryFiles, workspace } from "../memory/memory-files.js";
import type { Programs } from "../memory/programs.js";
import type { TestingClock } from "../memory/testing-clock.js";
import { asksNobody, noVolumes } from "./memory-refusals.js";
import { type MemorySecrets, placeholders } from "./memory-secrets.js";
import { type MemorySnapshot, MemorySnapshots } from "./memory-snapshots.js";
import type { MemoryTemplate, TemplateCatalogue } from "./template-catalogue.js";

/** Seconds until a sandbox that sleeps is deleted, unless its deadline deletes it anyway. */
const keepStoppedSeconds = 7 * 24 * 60 * 60;

/** An existing sandbox. */
export interface MemorySandbox extends SandboxFacts {
  readonly template: MemoryTemplate;
  files: MemoryFiles;
  readonly egressLog: EgressLog;
  environment: Readonly<Record<string, string>>;
  metadata: SandboxFacts["metadata"];
  secrets: readonly SecretFacts[] | undefined;
  status: SandboxFacts["status"];
  sleep: SleepSettings;
  stopReason: StopReason | undefined;
  /** When a request last used the sandbox, or when it began to run. */
  lastUse: Date;
  /** The sandbox's machine; undefined while the sandbox is stopped. */
  machine: Machine | undefined;
  timeoutSeconds: number;
  expiresAt: Date;
  cancelDeadline: () => void;
  cancelIdle: () => void;
}

/** What a new sandbox begins with. */
interface Origin {
  readonly template: MemoryTemplate;
  readonly files: MemoryFiles | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** In place of those of the request and the template. */
  readonly secrets?: readonly SecretFacts[] | undefined;
}

export interface MemoryFleetOptions {
  readonly clock: TestingClock;
  readonly programs: Programs;
  readonly templates: TemplateCatalogue;
  readonly events: MemoryEvents;
  readonly secrets: MemorySecrets;
}

type Started = (program: RunningProgram, request: ProgramRequest) => void;

/** All sandboxes of a service. */
export class MemoryFleet implements Fleet<MemorySandbox> {
  readonly #sandboxes = new Map<string, MemorySandbox>();
  readonly #ended = new Map<string, EndedSandbox>();
  readonly snapshots: MemorySnapshots;

  constructor(private readonly options: MemoryFleetOptions) {
    this.snapshots = new MemorySnapshots(options.clock);
  }

  list(): readonly MemorySandbox[] {
    return [...this.#sandboxes.values()];
  }

  has(id: string): boolean {
    return this.#sandboxes.has(id);
  }

  get(id: string): MemorySandbox {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox) return sandbox;
    const ended = this.#ended.get(id);
    throw ended ? sandboxEnded(ended) : sandboxNotFound(id);
  }

  /** The machine of a running sandbox. Throws a problem if it is not reachable. */
  reachable(id: string): Machine {
    const { status, machine } = this.get(id);
    if (status === "paused") throw sandboxPaused(id);
    if (!machine) throw sandboxStopped(id);
    return machine;
  }

  /** The same for a request, which counts as a use of the sandbox, and starts it if its settings say so. */
  async used(id: string): Promise<Machine> {
    const sandbox = this.get(id);
    if (sandbox.sleep.autoStart && isAsleep(sandbox.status)) await this.#wake(sandbox);
    sandbox.lastUse = this.options.clock.now();
    return this.reachable(id);
  }

  async create(request: CreateRequest): Promise<MemorySandbox> {
    return this.#create(request, this.#origin(request));
  }

  #origin({ snapshot, template: wanted = "" }: CreateRequest): Origin {
    if (snapshot !== undefined) return this.snapshots.get(snapshot);
    const template = this.options.templates.get(wanted);
    const { built, content } = template;
    if (built && built.status !== "active") throw templateNotReady(template.name, built.status);
    return { template, files: content?.files, environment: { ...content?.environment } };
  }

  async #create(request: CreateRequest, origin: Origin): Promise<MemorySandbox> {
    const { name, egress, timeoutSeconds } = request;
    const { clock, secrets } = this.options;
    const { template, environment, files } = origin;
    if (Object.keys(request.mounts).length > 0) throw noVolumes();
    if (egress.ask) throw asksNobody();
    if (name !== undefined && this.#named(name)) throw nameTaken(name);
    const now = clock.now();
    const sandbox: MemorySandbox = {
      id: newId(now),
      template: withOwnLimits(template, request.limits),
      name,
      metadata: request.metadata,
      sleep: request.sleep,
      stopReason: undefined,
      lastUse: now,
      egress,
      egressLog: new EgressLog(egress, clock),
      // Claim the isolation that was asked for: nothing really runs, so nothing needs isolation.
      isolation: request.minIsolation ?? "namespace",
      secrets: origin.secrets ?? secrets.requested(requestedSecrets(template, request)),
      environment: { ...environment, ...request.environment },
      files: new MemoryFiles(clock, files),
      createdAt: now,
      failureReason: undefined,
      status: "running",
      machine: undefined,
      timeoutSeconds,
      expiresAt: now,
      cancelDeadline: () => undefined,
      cancelIdle: () => undefined,
    };
    this.#boot(sandbox);
    this.#sandboxes.set(sandbox.id, sandbox);
    this.#watch(sandbox);
    this.#happened(sandbox, "sandbox.created", { template: template.name });
    return this.setTimeout(sandbox.id, timeoutSeconds);
  }

  /** Finds the sandbox of this name and makes it run, or creates it. Never makes its deadline earlier. */
  async getOrCreate(request: CreateRequest & { readonly name: string }): Promise<Created<MemorySandbox>> {
    const { clock } = this.options;
    const { template } = this.#origin(request);
    const sandbox = this.#named(request.name);
    if (!sandbox) return { sandbox: await this.create(request), isNew: true };
    if (sandbox.template.name !== template.name) throw otherTemplate(request.name, sandbox.template.name);
    await this.#wake(sandbox);
    const wanted = clock.now().getTime() + request.timeoutSeconds * 1000;
    if (wanted > sandbox.expiresAt.getTime()) await this.setTimeout(sandbox.id, request.timeoutSeconds);
    return { sandbox, isNew: false };
  }

  async delete(id: string): Promise<void> {
    this.get(id);
    this.#end(id, "deleted");
  }

  async pause(id: string, reason: StopReason = "requested"): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    if (!sandbox.machine) throw sandboxStopped(id);
    sandbox.machine.pause();
    return this.#asleep(sandbox, "paused", reason);
  }

  async resume(id: string): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    if (!sandbox.machine) throw sandboxStopped(id);
    sandbox.machine.resume();
    return this.#awake(sandbox);
  }

  async stop(id: string, reason: StopReason = "requested"): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    sandbox.machine?.end(sandboxStopped(id));
    sandbox.machine = undefined;
    return this.#asleep(sandbox, "stopped", reason);
  }

  async start(id: string): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    if (sandbox.status === "paused") throw sandboxPaused(id);
    if (!sandbox.machine) this.#boot(sandbox);
    return this.#awake(sandbox);
  }

  async update(id: string, { metadata, sleep }: SandboxUpdate): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    if (metadata) sandbox.metadata = metadata;
    const before = sandbox.sleep.onTimeout;
    sandbox.sleep = { ...sandbox.sleep, ...sleep };
    if (isAsleep(sandbox.status) && (before === "delete") !== (sandbox.sleep.onTimeout === "delete"))
      this.#setDeadline(sandbox, before === "delete" ? keepStoppedSeconds : sandbox.timeoutSeconds);
    this.#watch(sandbox);
    return sandbox;
  }

  /** Keeps the files and variables of a sandbox as they are now. */
  async take(id: string, request: SnapshotRequest): Promise<MemorySnapshot> {
    const origin = this.#kept(this.get(id));
    return this.snapshots.add({ ...request, ...origin, sandboxId: id });
  }

  async fork(
    id: string,
    count: number,
    timeoutSeconds: number | undefined,
  ): Promise<readonly MemorySandbox[]> {
    const sandbox = this.get(id);
    const { secrets, metadata, egress, sleep } = sandbox;
    const origin = { ...this.#kept(sandbox), secrets };
    const request: CreateRequest = {
      timeoutSeconds: timeoutSeconds ?? sandbox.timeoutSeconds,
      minIsolation: sandbox.isolation,
      name: undefined,
      ...{ metadata, egress, sleep },
      limits: undefined,
      mounts: {},
      secrets: undefined,
      environment: {},
      idempotency: undefined,
    };
    return Promise.all(Array.from({ length: count }, () => this.#create(request, origin)));
  }

  async restore(id: string, idOrName: string): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    const snapshot = this.snapshots.get(idOrName);
    if (snapshot.template.name !== sandbox.template.name)
      throw snapshotOfOther(snapshot, sandbox.template.name);
    sandbox.machine?.end(sandboxStopped(id));
    sandbox.files = new MemoryFiles(this.options.clock, snapshot.files);
    sandbox.environment = snapshot.environment;
    sandbox.machine = undefined;
    this.#asleep(sandbox, "stopped", "requested");
    return this.start(id);
  }

  /** The files and variables of a sandbox, which nothing changes any more. */
  #kept({ template, files, environment, machine, secrets }: MemorySandbox): Origin {
    const variables = machine ? Object.fromEntries(machine.variables.entries()) : environment;
    const own = Object.entries(variables).filter(([name]) => !secrets?.some((one) => one.name === name));
    return {
      template,
      files: new MemoryFiles(this.options.clock, files),
      environment: Object.fromEntries(own),
    };
  }

  async setTimeout(id: string, seconds: number): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    sandbox.timeoutSeconds = seconds;
    this.#setDeadline(sandbox, seconds);
    return sandbox;
  }

  #setDeadline(sandbox: MemorySandbox, seconds: number): void {
    const { clock } = this.options;
    sandbox.expiresAt = new Date(clock.now().getTime() + seconds * 1000);
    sandbox.cancelDeadline();
    sandbox.cancelDeadline = clock.at(sandbox.expiresAt, () => {
      const { sleep, status } = sandbox;
      if (isAsleep(status) || sleep.onTimeout === "delete") this.#end(sandbox.id, "expired");
      else void this.#sleep(sandbox, "timeout");
    });
  }

  /** Counts the idle time of a sandbox. Programs that run keep it awake. */
  #watch(sandbox: MemorySandbox): void {
    const { clock } = this.options;
    const { idleTimeoutSeconds } = sandbox.sleep;
    sandbox.cancelIdle();
    if (idleTimeoutSeconds === undefined || sandbox.status !== "running") return;
    const look = (): void => {
      if ((sandbox.machine?.counts.running.size ?? 0) > 0) sandbox.lastUse = clock.now();
      const due = new Date(sandbox.lastUse.getTime() + idleTimeoutSeconds * 1000);
      if (due <= clock.now()) void this.#sleep(sandbox, "idle");
      else sandbox.cancelIdle = clock.at(due, look);
    };
    look();
  }

  async #sleep({ id, sleep }: MemorySandbox, reason: StopReason): Promise<void> {
    await (sleep.onTimeout === "pause" ? this.pause(id, reason) : this.stop(id, reason));
  }

  async #wake({ id, status }: MemorySandbox): Promise<void> {
    await (status === "paused" ? this.resume(id) : this.start(id));
  }

  #asleep(sandbox: MemorySandbox, status: "paused" | "stopped", reason: StopReason): MemorySandbox {
    if (sandbox.status === status) return sandbox;
    this.#happened(sandbox, `sandbox.${status}`);
    sandbox.status = status;
    sandbox.stopReason = reason;
    if (sandbox.sleep.onTimeout !== "delete") this.#setDeadline(sandbox, keepStoppedSeconds);
    return sandbox;
  }

  #awake(sandbox: MemorySandbox): MemorySandbox {
    if (sandbox.status === "running") return sandbox;
    this.#happened(sandbox, sandbox.status === "paused" ? "sandbox.resumed" : "sandbox.started");
    sandbox.status = "running";
    sandbox.stopReason = undefined;
    sandbox.lastUse = this.options.clock.now();
    if (sandbox.sleep.onTimeout !== "delete") this.#setDeadline(sandbox, sandbox.timeoutSeconds);
    this.#watch(sandbox);
    return sandbox;
  }

  #boot(sandbox: MemorySandbox): void {
    const { clock, programs } = this.options;
    const { id: sandboxId, template, files, egressLog } = sandbox;
    const environment = { ...sandbox.environment, ...placeholders(sandbox.secrets) };
    const { workdir = workspace } = template.content ?? {};
    const settings = { sandboxId, template: template.name, files, environment, workdir };
    const onStart: Started = (program, request) => this.#started(sandbox, program, request);
    sandbox.machine = new Machine({ ...settings, clock, programs, egress: egressLog, onStart });
  }

  #started(
    sandbox: MemorySandbox,
    program: RunningProgram,
    { id, language, terminal }: ProgramRequest,
  ): void {
    if (terminal !== undefined) return;
    const kind = id !== undefined ? "background" : language === undefined ? "command" : "code";
    const execution = { execution_id: program.id, kind } as const;
    this.#happened(sandbox, "execution.started", execution);
    program.outcome.then(
      ({ reason, exitCode, duration }) => {
        const failed = reason === "timeout" ? "timeout" : "failed";
        const outcome = kind !== "background" || exitCode === 0 ? "completed" : failed;
        const duration_ms = Math.round(duration * 1000);
        this.#happened(sandbox, "execution.ended", { ...execution, outcome, duration_ms });
      },
      () => this.#happened(sandbox, "execution.ended", { ...execution, outcome: "cut" }),
    );
  }

  #happened({ id, name }: MemorySandbox, type: EventType, facts: EventFacts = {}): void {
    const at = this.options.clock.now();
    const named = { ...(name !== undefined && { name }), ...facts };
    this.options.events.record([{ type, at, sandboxId: id, facts: named }]);
  }

  #named(name: string): MemorySandbox | undefined {
    return this.list().find((sandbox) => sandbox.name === name);
  }

  #end(id: string, end: EndedSandbox["end"]): void {
    const sandbox = this.get(id);
    const { createdAt, expiresAt, machine } = sandbox;
    for (const cancel of [sandbox.cancelDeadline, sandbox.cancelIdle]) cancel();
    this.#sandboxes.delete(id);
    this.#happened(sandbox, end === "expired" ? "sandbox.expired" : "sandbox.deleted");
    const ended = { id, end, createdAt, expiresAt };
    this.#ended.set(id, ended);
    machine?.end(sandboxEnded(ended));
  }
}

/** A new sandbox id in the local backend's format: the time, then random letters. */
function newId(now: Date): string {
  const random = globalThis.crypto.getRandomValues(new Uint8Array(8));
  const letters = Array.from(random, (byte) => String.fromCharCode(97 + (byte % 26)));
  return `${Math.floor(now.getTime() / 1000)}${letters.join("")}`;
}
