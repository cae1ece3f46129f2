import { randomBytes } from "node:crypto";
import { Problem } from "@cloud-sandbox/protocol/server";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { egressRules, type SandboxEgressWish } from "../egress/egress-wish.js";
import {
  type IsolationLevel,
  isAtLeast,
  type Machine,
  type SandboxRuntime,
} from "../runtime/sandbox-runtime.js";
import { sandboxEnded, sandboxFailed, sandboxNotFound, templateNotFound } from "./problems.js";
import type { EndedSandbox, SandboxRecord } from "./sandbox-record.js";
import type { LocalTemplate, TemplateCatalogue } from "./template-catalogue.js";
import type { TokenIssuer } from "./token-issuer.js";
import { WarmPool } from "./warm-pool.js";

const rememberedEnds = 10_000;

export interface FleetOptions {
  readonly runtime: SandboxRuntime;
  readonly templates: TemplateCatalogue;
  readonly tokens: TokenIssuer;
  readonly egress: EgressGateway;
  readonly isolation: IsolationLevel;
  /** Machines kept booted for the default template. */
  readonly poolSize: number;
  readonly maxSandboxes: number;
  readonly log: (message: string) => void;
}

export interface CreateRequest {
  readonly template: string;
  readonly timeoutSeconds: number;
  readonly minIsolation: IsolationLevel | undefined;
  readonly name: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly egress: SandboxEgressWish;
}

/** All sandboxes of this machine, from create to their end. Every end takes the same way: {@link SandboxFleet.delete}. */
export class SandboxFleet {
  readonly #sandboxes = new Map<string, SandboxRecord>();
  readonly #ended = new Map<string, EndedSandbox>();
  readonly #deadlines = new Map<string, NodeJS.Timeout>();
  readonly #endings = new Map<string, Promise<void>>();
  readonly #pools = new Map<string, WarmPool>();
  #creating = 0;
  #isClosed = false;

  constructor(private readonly options: FleetOptions) {
    for (const [index, template] of options.templates.list().entries()) {
      const pool = new WarmPool(
        index === 0 ? options.poolSize : 0,
        () => this.#boot(template),
        (error) =>
          options.log(`A machine did not boot: ${error instanceof Error ? error.message : String(error)}`),
      );
      this.#pools.set(template.name, pool);
      pool.fill();
    }
  }

  async create(request: CreateRequest): Promise<SandboxRecord> {
    const { templates, isolation, maxSandboxes } = this.options;
    const template = templates.find(request.template);
    if (!template)
      throw templateNotFound(
        request.template,
        templates.list().map(({ name }) => name),
      );
    if (request.minIsolation && !isAtLeast(isolation, request.minIsolation)) {
      const message = `Isolation "${request.minIsolation}" is not available on this machine, which offers "${isolation}". Lower min_isolation, or use another backend.`;
      throw new Problem(400, "ISOLATION_UNAVAILABLE", message);
    }
    if (
      request.name !== undefined &&
      [...this.#sandboxes.values()].some(({ name }) => name === request.name)
    ) {
      throw new Problem(
        409,
        "CONFLICT",
        `A sandbox named "${request.name}" exists already. Use it, or choose another name.`,
      );
    }
    if (this.#sandboxes.size + this.#creating >= maxSandboxes) {
      const message = `This machine runs at most ${maxSandboxes} sandboxes at a time. Delete one first, or raise the limit with --max-sandboxes.`;
      throw new Problem(429, "RESOURCE_LIMIT_ERROR", message, {
        details: { limit: maxSandboxes, current: this.#sandboxes.size, available: 0 },
      });
    }
    const rules = egressRules(request.egress);
    this.#creating += 1;
    try {
      const machine = await this.#claim(template);
      this.options.egress.setRules(machine.id, rules);
      return this.#register(machine, template, request);
    } finally {
      this.#creating -= 1;
    }
  }

  list(): readonly SandboxRecord[] {
    return [...this.#sandboxes.values()];
  }

  /** The sandbox, or the problem that says why there is none. */
  get(id: string): SandboxRecord {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox && !this.#endings.has(id)) return sandbox;
    const ended = this.#ended.get(id);
    throw ended ? sandboxEnded(ended) : sandboxNotFound(id);
  }

  /** Resolves when nothing of the sandbox is left. */
  async delete(id: string): Promise<void> {
    this.get(id);
    await this.#end(id, "deleted");
  }

  setTimeout(id: string, timeoutSeconds: number): SandboxRecord {
    const sandbox = this.get(id);
    sandbox.timeoutSeconds = timeoutSeconds;
    sandbox.expiresAt = new Date(Date.now() + timeoutSeconds * 1000);
    clearTimeout(this.#deadlines.get(id));
    this.#deadlines.set(id, setTimeout(() => this.#expire(id), timeoutSeconds * 1000).unref());
    return sandbox;
  }

  async pause(id: string): Promise<SandboxRecord> {
    const sandbox = this.#alive(id);
    await sandbox.machine.pause().catch(async (error: unknown) => {
      await sandbox.machine.resume();
      const reason = error instanceof Error ? error.message : String(error);
      throw new Problem(
        409,
        "CONFLICT",
        `Sandbox ${id} cannot be paused: ${reason} Delete it if it must not go on.`,
      );
    });
    sandbox.status = "paused";
    return sandbox;
  }

  async resume(id: string): Promise<SandboxRecord> {
    const sandbox = this.#alive(id);
    await sandbox.machine.resume();
    sandbox.status = "running";
    return sandbox;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const ends = [...this.#sandboxes.keys()].map((id) => this.#end(id, "deleted"));
    await Promise.all([...ends, ...[...this.#pools.values()].map((pool) => pool.close())]);
  }

  #alive(id: string): SandboxRecord {
    const sandbox = this.get(id);
    if (sandbox.status === "error") throw sandboxFailed(sandbox);
    return sandbox;
  }

  async #claim(template: LocalTemplate): Promise<Machine> {
    const machine = await this.#pools
      .get(template.name)
      ?.claim()
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        const message = `No sandbox could be started: ${reason.replace(/\.?$/, ".")} "cloud-sandbox-local doctor" shows what this machine can isolate.`;
        throw new Problem(503, "RUNTIME_UNAVAILABLE", message, { cause: error });
      });
    if (machine && !this.#isClosed) return machine;
    await machine?.destroy();
    throw new Problem(503, "RUNTIME_UNAVAILABLE", "This control plane is shutting down.");
  }

  async #boot(template: LocalTemplate): Promise<Machine> {
    const { runtime, tokens, egress } = this.options;
    const id = newSandboxId();
    const way = egress.open(id);
    const start = runtime.start({
      id,
      template: template.name,
      limits: template.limits,
      publicKey: tokens.publicKey,
      languages: template.languages.map(({ language }) => language),
      egress: (connection) => way.accept(connection),
    });
    const machine = await start.catch((error: unknown) => {
      egress.close(id);
      throw error;
    });
    tokens.prepare(id);
    void machine.exited.then(() => {
      tokens.forget(id);
      egress.close(id);
    });
    return machine;
  }

  #register(machine: Machine, template: LocalTemplate, request: CreateRequest): SandboxRecord {
    const { id } = machine;
    const now = new Date();
    this.#sandboxes.set(id, {
      id,
      template,
      machine,
      isolation: machine.isolation,
      createdAt: now,
      name: request.name,
      metadata: request.metadata,
      egress: request.egress,
      status: "running",
      timeoutSeconds: request.timeoutSeconds,
      expiresAt: now,
      failureReason: undefined,
    });
    void machine.exited.then(({ message }) => this.#noteFailure(id, message));
    return this.setTimeout(id, request.timeoutSeconds);
  }

  #noteFailure(id: string, message: string): void {
    const sandbox = this.#sandboxes.get(id);
    if (!sandbox || this.#endings.has(id)) return;
    sandbox.status = "error";
    sandbox.failureReason = message;
  }

  #expire(id: string): void {
    this.#end(id, "expired").catch((error: unknown) =>
      this.options.log(`Sandbox ${id} did not end cleanly: ${String(error)}`),
    );
  }

  #end(id: string, end: EndedSandbox["end"]): Promise<void> {
    const ending = this.#endings.get(id) ?? this.#tearDown(id, end);
    this.#endings.set(id, ending);
    return ending;
  }

  async #tearDown(id: string, end: EndedSandbox["end"]): Promise<void> {
    const sandbox = this.#sandboxes.get(id);
    if (!sandbox) return;
    clearTimeout(this.#deadlines.get(id));
    this.#deadlines.delete(id);
    this.#ended.set(id, { id, end, createdAt: sandbox.createdAt, expiresAt: sandbox.expiresAt });
    const oldest = this.#ended.keys().next();
    if (this.#ended.size > rememberedEnds && !oldest.done) this.#ended.delete(oldest.value);
    try {
      await sandbox.machine.destroy();
    } finally {
      this.#sandboxes.delete(id);
      this.#endings.delete(id);
    }
  }
}

/** The form that clients of the cloud know: seconds since 1970, then eight random characters of base 36. */
function newSandboxId(): string {
  const random = randomBytes(8).readBigUInt64LE().toString(36).padStart(8, "0").slice(-8);
  return `${Math.floor(Date.now() / 1000)}${random}`;
}
