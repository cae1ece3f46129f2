import {
  type Created,
  type CreateRequest,
  type EndedSandbox,
  type Fleet,
  nameTaken,
  otherTemplate,
  requestedSecrets,
  type SandboxFacts,
  type SecretFacts,
  sandboxEnded,
  sandboxNotFound,
  sandboxPaused,
  sandboxStopped,
  templateNotReady,
  withOwnLimits,
} from "@cloud-sandbox/server-kit/handlers";
import { Problem } from "@cloud-sandbox/server-kit/portable";
import { Machine } from "../agent/machine.js";
import { EgressLog } from "../memory/egress-log.js";
import { MemoryFiles, workspace } from "../memory/memory-files.js";
import type { Programs } from "../memory/programs.js";
import type { TestingClock } from "../memory/testing-clock.js";
import { type MemorySecrets, placeholders } from "./memory-secrets.js";
import type { MemoryTemplate, TemplateCatalogue } from "./template-catalogue.js";

/** An existing sandbox. */
export interface MemorySandbox extends SandboxFacts {
  readonly template: MemoryTemplate;
  readonly files: MemoryFiles;
  readonly egressLog: EgressLog;
  readonly environment: Readonly<Record<string, string>>;
  secrets: readonly SecretFacts[] | undefined;
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
  readonly secrets: MemorySecrets;
}

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
    const { clock, templates, secrets } = this.options;
    const template = templates.get(request.template);
    const { built, content } = template;
    if (built && built.status !== "active") throw templateNotReady(template.name, built.status);
    if (Object.keys(request.mounts).length > 0) throw noVolumes();
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
      secrets: secrets.requested(requestedSecrets(template, request)),
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
    sandbox.status = "paused";
    return sandbox;
  }

  async resume(id: string): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    if (!sandbox.machine) throw sandboxStopped(id);
    sandbox.machine.resume();
    sandbox.status = "running";
    return sandbox;
  }

  async stop(id: string): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    sandbox.machine?.end(sandboxStopped(id));
    sandbox.machine = undefined;
    sandbox.status = "stopped";
    return sandbox;
  }

  async start(id: string): Promise<MemorySandbox> {
    const sandbox = this.get(id);
    if (sandbox.status === "paused") throw sandboxPaused(id);
    if (!sandbox.machine) this.#boot(sandbox);
    sandbox.status = "running";
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
    const { id: sandboxId, template, files, egressLog } = sandbox;
    const environment = { ...sandbox.environment, ...placeholders(sandbox.secrets) };
    const { workdir = workspace } = template.content ?? {};
    const settings = { sandboxId, template: template.name, files, environment, workdir };
    sandbox.machine = new Machine({ ...settings, clock, programs, egress: egressLog });
  }

  #named(name: string): MemorySandbox | undefined {
    return this.list().find((sandbox) => sandbox.name === name);
  }

  #end(id: string, end: EndedSandbox["end"]): void {
    const { cancelDeadline, createdAt, expiresAt, machine } = this.get(id);
    cancelDeadline();
    this.#sandboxes.delete(id);
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
