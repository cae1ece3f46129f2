import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { AgentAccess, type AgentChannelOptions } from "../agent/agent-access.js";
import type { BackgroundWork } from "../agent/background-work.js";
import { type IssuedToken, TokenCache } from "../agent/token-cache.js";
import { type CallOptions, callInit, callOptionNames } from "../config/call-options.js";
import { identifier } from "../config/identifier.js";
import { checkKnown } from "../config/known-options.js";
import { checkBoolean, requireText } from "../config/option-checks.js";
import { lifetime } from "../config/time-limits.js";
import { NotFoundError, SandboxExpiredError } from "../errors/errors.js";
import { date } from "../transport/answers/date.js";
import type { PaginatedList } from "../transport/answers/paginated-list.js";
import { asText } from "../transport/answers/required-fields.js";
import { CallScope } from "../transport/calls/call-scope.js";
import type { ServerClock } from "../transport/calls/server-clock.js";
import { unlessAborted } from "../transport/calls/unless-aborted.js";
import { bodyOf, type ControlPlaneClient, readBody, successOf } from "../transport/contract-clients.js";
import type { CallInit } from "../transport/http/light-request.js";
import { OwnedSandboxes } from "./owned-sandboxes.js";
import { Sandbox, type SandboxTimeouts } from "./sandbox.js";
import { type CreateSandboxOptions, createRequest } from "./sandbox-creation.js";
import type { ListSandboxesOptions } from "./sandbox-list.js";
import { sandboxListOf } from "./sandbox-parts.js";
import { type SandboxStatus, sandboxRecord } from "./sandbox-record.js";

/** How `connect` treats a sandbox that does not run. */
export interface ConnectOptions extends CallOptions {
  /** Whether one that is stopped is started. Default false: its processes are gone, and starting it may cost. */
  start?: boolean | undefined;
}

export interface SandboxesParts {
  controlPlane: ControlPlaneClient;
  agents: AgentChannelOptions;
  clock: ServerClock;
  timeouts: SandboxTimeouts & { lifetime: number | undefined };
  deleteOnSignal: boolean;
}

/** Isolated machines, from create to delete. */
export class Sandboxes {
  readonly #parts: SandboxesParts;
  readonly #accesses = new Map<string, AgentAccess>();
  readonly #owned = new OwnedSandboxes((id) => this.delete(id, { requestTimeoutSeconds: longestLastDelete }));

  /** @internal */
  static of(parts: SandboxesParts): Sandboxes {
    return new Sandboxes(parts);
  }

  private constructor(parts: SandboxesParts) {
    this.#parts = parts;
  }

  /** @internal The control plane's own operations, for the parts of a sandbox. */
  get controlPlane(): ControlPlaneClient {
    return this.#parts.controlPlane;
  }

  /** @internal */
  get background(): BackgroundWork {
    return this.#parts.agents.background;
  }

  /** @internal */
  get clock(): ServerClock {
    return this.#parts.clock;
  }

  /**
   * Makes a sandbox and waits until it can be used (POST /v1/sandboxes), `timeouts.requestSeconds` at most. Where that
   * fails half-way, also because `signal` fires, the sandbox is deleted: none is left that nobody knows of. A server that goes
   * silent, or whose answer is lost, is asked again for the same sandbox if it says that it knows creates by their
   * Idempotency-Key; where it does not, the error says what may have been made.
   */
  async create(options: CreateSandboxOptions = {}): Promise<Sandbox> {
    return this.#make(createRequest(options, this.#parts.timeouts.lifetime), options);
  }

  /**
   * The sandbox of this name, made if there is none (POST /v1/sandboxes with `get_or_create`). One that was there runs then,
   * with its own variables and labels, and lives `timeoutSeconds` at least; it is never deleted by a failure here, nor when
   * this process ends. One of another template is a `ConflictError`. An extension: on a server that lacks it, such as the
   * cloud, it rejects with code GET_OR_CREATE_UNAVAILABLE and leaves no sandbox.
   */
  async getOrCreate(
    name: string,
    options: Omit<CreateSandboxOptions, "deleteOnSignal" | "limits" | "name"> = {},
  ): Promise<Sandbox> {
    requireText("name", name);
    const request = createRequest({ ...options, name }, this.#parts.timeouts.lifetime);
    return this.#make({ ...request, get_or_create: true }, { ...options, deleteOnSignal: false });
  }

  /**
   * Deletes all that this client created and has not deleted: for programs that handle signals themselves. Rejects with an
   * `AggregateError` when some could not be deleted.
   */
  async deleteCreated(): Promise<void> {
    const failures = await this.#owned.deleteAll();
    if (failures.length > 0) throw new AggregateError(failures, "Some sandboxes could not be deleted.");
  }

  #make(request: WireRequest, options: CreateSandboxOptions): Promise<Sandbox> {
    const { agents, deleteOnSignal, timeouts } = this.#parts;
    const owned = (options.deleteOnSignal ?? deleteOnSignal) ? this.#owned : undefined;
    return this.background.during(async () =>
      (await import("./sandbox-making.js")).makeSandbox(
        {
          sandboxes: this,
          calls: agents.calls,
          owned,
          tries: agents.retry.attempts,
          seconds: options.requestTimeoutSeconds ?? timeouts.request,
          sandbox: (wire) => this.#sandbox(wire),
          access: (id) => this.#access(id),
        },
        request,
        options,
      ),
    );
  }

  /** One, running or not (GET /v1/sandboxes/{id}). It is not resumed by being looked at. */
  async get(id: string, options?: CallOptions): Promise<Sandbox> {
    const pending = this.#parts.controlPlane.GET("/v1/sandboxes/{id}", at(id, options));
    return this.#sandbox(await bodyOf(pending, "id", "status"));
  }

  /**
   * All of the account's, newest first, fetched while they are read (GET /v1/sandboxes). `name` and `metadata` are looked at
   * here too: a server that does not know them gives all.
   */
  list(options: ListSandboxesOptions = {}): PaginatedList<Sandbox> {
    return sandboxListOf(this.#parts.controlPlane, options, (wire) => this.#sandbox(wire));
  }

  /**
   * One to work with: as `get`, resumed if it is paused, and started if it is stopped and `start` is true. Throws a
   * `ConflictError` if it does not run then.
   */
  async connect(id: string, options: ConnectOptions = {}): Promise<Sandbox> {
    checkKnown("connect", options, { ...callOptionNames, start: true });
    checkBoolean("start", options.start);
    const sandbox = await this.get(id, options);
    if (sandbox.status === "paused") await sandbox.resume(options);
    if (sandbox.status === "stopped" && options.start === true) await sandbox.start(options);
    if (sandbox.status === "running") return sandbox;
    throw (await import("./sandbox-refusals.js")).notRunning(sandbox);
  }

  /** Deletes one and everything in it (DELETE /v1/sandboxes/{id}); one that is gone is no error. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    try {
      await successOf(this.#parts.controlPlane.DELETE("/v1/sandboxes/{id}", at(id, options)));
    } catch (error) {
      if (!meansGone(error)) throw error;
    }
    this.#accesses.delete(id);
    this.#owned.forget(id);
  }

  /** Moves a deadline to `seconds` from now, 1 to 86,400 (PUT /v1/sandboxes/{id}/timeout). Gives the deadline. */
  async setTimeout(id: string, seconds: number, options?: CallOptions): Promise<Date> {
    const body = { timeout_seconds: lifetime(seconds, "seconds") };
    const { controlPlane } = this.#parts;
    const wire = await successOf(
      controlPlane.PUT("/v1/sandboxes/{id}/timeout", { body, ...at(id, options) }),
    );
    return date(wire?.expires_at) ?? new Date(Date.now() + seconds * 1000);
  }

  /** Freezes one: its processes keep their memory, its deadline goes on (POST /v1/sandboxes/{id}/pause). */
  pause(id: string, options?: CallOptions): Promise<SandboxStatus> {
    return this.#turn("pause", "paused", id, options);
  }

  /** Lets one go on after a pause (POST /v1/sandboxes/{id}/resume). */
  resume(id: string, options?: CallOptions): Promise<SandboxStatus> {
    return this.#turn("resume", "running", id, options);
  }

  /** Starts one after a stop: its files are as they were, its processes are not (POST /v1/sandboxes/{id}/start). */
  start(id: string, options?: CallOptions): Promise<SandboxStatus> {
    return this.#turn("start", "running", id, options);
  }

  /** Ends the processes of one and keeps its files; its deadline goes on (POST /v1/sandboxes/{id}/stop). */
  stop(id: string, options?: CallOptions): Promise<SandboxStatus> {
    return this.#turn("stop", "stopped", id, options);
  }

  /** Gets a fresh token for an agent; done by itself when needed. Gives the time when it expires, if known. */
  async refreshToken(id: string, options?: Pick<CallOptions, "signal">): Promise<Date | undefined> {
    const scope = new CallScope(options?.signal);
    try {
      const { expiresAt } = await unlessAborted(this.#access(id).tokens.renew(), scope);
      return expiresAt;
    } finally {
      scope.end();
    }
  }

  /** What it is then: `status`, where the server does not say. */
  async #turn(
    change: "pause" | "resume" | "start" | "stop",
    status: SandboxStatus,
    id: string,
    options: CallOptions | undefined,
  ): Promise<SandboxStatus> {
    const pending = this.#parts.controlPlane.POST(`/v1/sandboxes/{id}/${change}`, at(id, options));
    return (await successOf(pending))?.status ?? status;
  }

  #sandbox(wire: WireSandbox): Sandbox {
    const record = sandboxRecord(wire);
    const access = this.#access(record.id);
    access.publicHost = record.publicHost;
    // The cloud does not state its isolation, and has none.
    access.isExtended = record.isolation !== undefined;
    access.previews = { host: wire.preview_url_template, path: wire.preview_path_template };
    if (wire.auth_token && typeof wire.auth_token === "string")
      access.tokens.accept(issued(wire.auth_token, wire.token_expires_at));
    return Sandbox.of(record, access, this, this.#parts.timeouts);
  }

  /** All objects of one sandbox share its token. */
  #access(id: string): AgentAccess {
    let access = this.#accesses.get(id);
    if (access === undefined) {
      access = new AgentAccess(id, new TokenCache(() => this.#issueToken(id)), this.#parts.agents);
      const [oldest] = this.#accesses.keys();
      if (this.#accesses.size >= mostAccesses && oldest !== undefined) this.#accesses.delete(oldest);
      this.#accesses.set(id, access);
    }
    return access;
  }

  async #issueToken(id: string): Promise<IssuedToken> {
    const init = { ...at(id), isPart: true };
    const pending = this.#parts.controlPlane.POST("/v1/sandboxes/{id}/token/refresh", init);
    return readBody(pending, (wire) => issued(wire.auth_token, wire.token_expires_at), "auth_token");
  }
}

type WireSandbox = ControlPlaneSchemas["Sandbox"];
type WireRequest = ControlPlaneSchemas["CreateSandboxRequest"];

/** Seconds. */
const longestLastDelete = 5;
/** Objects held by callers keep theirs beyond this; it bounds what is remembered for those who come by id. */
const mostAccesses = 1000;

function at(id: string, options?: CallOptions): { params: { path: { id: string } } } & CallInit {
  return { params: { path: { id: identifier("sandbox", id) } }, ...callInit(options) };
}

function issued(value: string, expiresAt: string | undefined): IssuedToken {
  return { value: asText(value), expiresAt: date(expiresAt) };
}

/** A page of a proxy that says 404 does not mean that the sandbox is gone. */
function meansGone(error: unknown): boolean {
  if (error instanceof SandboxExpiredError) return true;
  return error instanceof NotFoundError && /\bjson\b/.test(error.headers["content-type"] ?? "");
}
