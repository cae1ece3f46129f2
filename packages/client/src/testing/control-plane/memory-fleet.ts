import {
  type Created,
  type CreateRequest,
  type EndedSandbox,
  type EventFacts,
  type EventType,
  type Fleet,
  type MemoryEvents,
  nameTaken,
  otherTemplate,
  type SandboxFacts,
  sandboxEnded,
  sandboxNotFound,
  sandboxPaused,
  sandboxStopped,
  templateNotReady,
  withOwnLimits,
} from "@cloud-sandbox/server-kit/handlers";
import { Problem } from "@cloud-sandbox/server-kit/portable";
import { Machine } from "../agent/machine.js";
import type { ProgramRequest, RunningProgram } from "../agent/running-program.js";
import { EgressLog } from "../memory/egress-log.js";
import { MemoryFiles, workspace } from "../memory/memory-files.js";
import type { Programs } from "../memory/programs.js";
import type { TestingClock } from "../memory/testing-clock.js";
import type { MemoryTemplate, TemplateCatalogue } from "./template-catalogue.js";

/** An existing sandbox. */
export interface MemorySandbox extends SandboxFacts {
  readonly template: MemoryTemplate;
  readonly files: MemoryFiles;
  readonly egressLog: EgressLog;
  readonly environment: Readonly<Record<string, string>>;
  status: SandboxFacts["status"];
  /** The sandbox's machine; undefined while the sandbox is stopped. */
  machine: Machine | undefined;
  timeoutSeconds: number;
  expiresAt: Date;
  cancelDeadline: () => void;
}

export interface MemoryFleetOptions {
  readonly clock: TestingClock;
  readonly programs: Programs;
  readonly templates: TemplateCatalogue;
  readonly events: MemoryEvents;
}

type Started = (program: RunningProgram, request: ProgramRequest) => void;

/** All sandboxes of a service. */
export class MemoryFleet implements Fleet<MemorySandbox> {
  readonly #sandboxes = new Map<string, MemorySandbox>();
  readonly #ended = new Map<string, EndedSandbox>();

  constructor(private readonly options: MemoryFleetOptions) {}

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

  async create(request: CreateRequest): Promise<MemorySandbox> {
    const { name, egress, timeoutSeconds } = request;
    const { clock, templates } = this.options;
    const template = templates.get(request.template);
    const { built, content } = template;
    if (built && built.status !== "active") throw templateNotReady(template.name, built.status);
    if (Object.keys(request.mounts).length > 0) throw noVolumes();
    if (request.secrets) throw noSecrets();
    if (egress.ask) throw asksNobody();
    if (name !== undefined && this.#named(name)) throw nameTaken(name);
    const now = clock.now();
    const sandbox: MemorySandbox = {
      id: newId(now),
      template: withOwnLimits(template, request.limits),
      name,
      metadata: request.metadata,
      egress,
      egressLog: new EgressLog(egress, clock),
      // Claim the isolation that was asked for: nothing really runs, so nothing needs isolation.
      isolation: request.minIsolation ?? "namespace",
      environment: { ...content?.environment, ...request.environment },
      files: new MemoryFiles(clock, content?.files),
      createdAt: now,
      failureReason: undefined,
      status: "running",
      machine: undefined,
      timeoutSeconds,
      expiresAt: now,
      cancelDeadline: () => undefined,
    };
    this.#boot(sandbox);
    this.#sandboxes.set(sandbox.id, sandbox);
    this.#happened(sandbox, "sandbox.created", { template: template.name });
    return this.setTimeout(sandbox.id, timeoutSeconds);
  }

  /** Finds the sandbox of this name and makes it run, or creates it. Never makes its deadline earlier. */
  async getOrCreate(request: CreateRequest & { readonly name: string }): Promise<Created<MemorySandbox>> {
    const { clock, templates } = this.options;
    const template = templates.get(request.template);
    const sandbox = this.#named(request.name);
    if (!sandbox) return { sandbox: await this.create(request), isNew: true };
    if (sandbox.template.name !== template.name) throw otherTemplate(request.name, sandbox.template.name);
    if (sandbox.status === "paused") await this.resume(sandbox.id);
    else await this.start(sandbox.id);
    const wanted = clock.now().getTime() + request.timeoutSeconds * 1000;
    if (wanted > sandbox.expiresAt.getTime()) await this.setTimeout(sandbox.id, request.timeoutSeconds);
    return { sandbox, isNew: false };
  }

  async delete(id: string): Promise<void> {
    this.get(id);
    this.#end(id, "deleted");
  }

  async pause(id: string): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    if (!sandbox.machine) throw sandboxStopped(id);
    sandbox.machine.pause();
    this.#enter(sandbox, "paused", "sandbox.paused");
    return sandbox;
  }

  async resume(id: string): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    if (!sandbox.machine) throw sandboxStopped(id);
    sandbox.machine.resume();
    this.#enter(sandbox, "running", "sandbox.resumed");
    return sandbox;
  }

  async stop(id: string): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    sandbox.machine?.end(sandboxStopped(id));
    sandbox.machine = undefined;
    this.#enter(sandbox, "stopped", "sandbox.stopped");
    return sandbox;
  }

  async start(id: string): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    if (sandbox.status === "paused") throw sandboxPaused(id);
    if (!sandbox.machine) this.#boot(sandbox);
    this.#enter(sandbox, "running", "sandbox.started");
    return sandbox;
  }

  async setTimeout(id: string, seconds: number): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    const { clock } = this.options;
    sandbox.timeoutSeconds = seconds;
    sandbox.expiresAt = new Date(clock.now().getTime() + seconds * 1000);
    sandbox.cancelDeadline();
    sandbox.cancelDeadline = clock.at(sandbox.expiresAt, () => this.#end(id, "expired"));
    return sandbox;
  }

  #boot(sandbox: MemorySandbox): void {
    const { clock, programs } = this.options;
    const { id: sandboxId, template, files, environment, egressLog } = sandbox;
    const { workdir = workspace } = template.content ?? {};
    const settings = { sandboxId, template: template.name, files, environment, workdir };
    const onStart: Started = (program, request) => this.#started(sandbox, program, request);
    sandbox.machine = new Machine({ ...settings, clock, programs, egress: egressLog, onStart });
  }

  #enter(sandbox: MemorySandbox, status: MemorySandbox["status"], type: EventType): void {
    if (sandbox.status !== status) this.#happened(sandbox, type);
    sandbox.status = status;
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
    const { cancelDeadline, createdAt, expiresAt, machine } = sandbox;
    cancelDeadline();
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

const noVolumes = (): Problem =>
  new Problem(400, "VOLUMES_UNAVAILABLE", "The testing service has no volumes.", {
    hint: "Leave mounts out, or test against a local server.",
  });

const noSecrets = (): Problem =>
  new Problem(400, "SECRETS_UNAVAILABLE", "The testing service has no secrets: nothing leaves it.", {
    hint: "Leave secrets out, or test against a local server.",
  });

const asksNobody = (): Problem =>
  new Problem(400, "INVALID_REQUEST", "The testing service asks nobody: no program of it waits for a host.", {
    hint: "Leave egress.ask out, or test against a local server.",
  });
