import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { AgentAccess, type AgentChannelOptions } from "../agent/agent-access.js";
import type { BackgroundWork } from "../agent/background-work.js";
import { type IssuedToken, TokenCache } from "../agent/token-cache.js";
import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkBoolean,
  checkKnown,
  identifier,
  lifetime,
  requireText,
} from "../config/options.js";
import type { PaginatedList } from "../config/paginated-list.js";
import { NotFoundError, type SandboxError, SandboxExpiredError } from "../errors/errors.js";
import { asText, date } from "../transport/answer-fields.js";
import { CallScope, type ServerClock, unlessAborted } from "../transport/calls/calls.js";
import { bodyOf, type ControlPlaneClient, readBody, successOf } from "../transport/contract-clients.js";
import type { Answer, CallInit } from "../transport/openapi-client.js";
import { OwnedSandboxes } from "./owned-sandboxes.js";
import { Sandbox, type SandboxTimeouts } from "./sandbox.js";
import type { CreateSandboxOptions, NamedSandboxOptions } from "./sandbox-creation.js";
import { type ListSandboxesOptions, listSandboxes } from "./sandbox-list.js";
import { makeSandbox } from "./sandbox-making.js";
import type * as SandboxParts from "./sandbox-parts.js";
import { type SandboxStatus, sandboxRecord } from "./sandbox-record.js";
import { notRunning } from "./sandbox-refusals.js";
import { type UpdateSandboxOptions, updateRequest } from "./sleep-options.js";
import type { ForkOptions } from "./snapshots.js";

/** Options of `connect`. */
export interface ConnectOptions extends CallOptions {
  /** Whether to start a stopped sandbox. Default: its `autoStart`, else false: its processes are gone, and running it may cost money. */
  start?: boolean | undefined;
}

export interface SandboxesParts {
  controlPlane: ControlPlaneClient;
  agents: AgentChannelOptions;
  clock: ServerClock;
  timeouts: SandboxTimeouts & { lifetime: number | undefined };
  deleteOnSignal: boolean;
}

/** Creates, finds and deletes sandboxes. */
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

  /** @internal The low-level client of the control plane, for the parts of a sandbox. */
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
   * Creates a sandbox and waits until it can be used (POST /v1/sandboxes), at most `timeouts.requestSeconds`. If that
   * fails half-way, also because `signal` fires, the new sandbox is deleted. If the server's answer does not arrive, the
   * request is repeated with the same Idempotency-Key, provided that the server supports such keys; if it does not, the
   * error says that a sandbox may have been created.
   */
  async create(options: CreateSandboxOptions = {}): Promise<Sandbox> {
    return this.#make(options);
  }

  /**
   * Finds the sandbox of this name, or creates it (POST /v1/sandboxes with `get_or_create`). An existing sandbox is
   * running on return, keeps its own variables and labels, and lives at least `timeoutSeconds` more; neither a failure
   * here nor the end of this process deletes it. If its template is another one, throws a `ConflictError`. An extension:
   * on a server without it, such as the cloud, rejects with code GET_OR_CREATE_UNAVAILABLE and leaves no sandbox behind.
   */
  async getOrCreate(name: string, options: NamedSandboxOptions = {}): Promise<Sandbox> {
    requireText("name", name);
    return this.#make(options, name);
  }

  /**
   * Deletes all sandboxes that this client created and has not deleted yet, for programs that handle signals themselves.
   * Rejects with an `AggregateError` if some could not be deleted.
   */
  async deleteCreated(): Promise<void> {
    const failures = await this.#owned.deleteAll();
    if (failures.length > 0) throw new AggregateError(failures, "Some sandboxes could not be deleted.");
  }

  /** Creates a sandbox, or finds the sandbox of this name. */
  #make(options: CreateSandboxOptions, name?: string): Promise<Sandbox> {
    const { agents, deleteOnSignal, timeouts } = this.#parts;
    const isOwned = name === undefined && (options?.deleteOnSignal ?? deleteOnSignal);
    const maker = this.#maker();
    // Prevent an unhandled rejection: the creation awaits this promise later, and reports its error.
    maker.catch(() => undefined);
    return this.background.during(() =>
      makeSandbox(
        {
          sandboxes: this,
          calls: agents.calls,
          owned: isOwned ? this.#owned : undefined,
          tries: agents.retry.attempts,
          timeouts,
          sandbox: async (wire) => (await maker)(wire),
          access: (id) => this.#access(id),
        },
        options,
        name,
      ),
    );
  }

  /** Gets a sandbox by id, whatever its status (GET /v1/sandboxes/{id}). Does not resume a paused one. */
  async get(id: string, options?: CallOptions): Promise<Sandbox> {
    const pending = this.#parts.controlPlane.GET("/v1/sandboxes/{id}", at(id, options));
    const [sandbox, wire] = await Promise.all([this.#maker(), bodyOf(pending, "id", "status")]);
    return sandbox(wire);
  }

  /**
   * Lists the account's sandboxes, newest first (GET /v1/sandboxes). `for await` reads all of them, fetching pages as they are
   * reached, and so does `all()`; `for (const sandbox of await list)` reads only the first page. `name` and `metadata` are
   * also filtered here, because a server that does not know them ignores them.
   */
  list(options: ListSandboxesOptions = {}): PaginatedList<Sandbox> {
    return listSandboxes(this.#parts.controlPlane, options, () => this.#maker());
  }

  /**
   * Gets a sandbox by id, ready for use: resumes it if it is paused, and starts it if it is stopped and `start` is true, or left out
   * for a sandbox with `autoStart`.
   * Throws a `ConflictError` if it is not running after that.
   */
  async connect(id: string, options: ConnectOptions = {}): Promise<Sandbox> {
    checkKnown("connect", options, { ...callOptionNames, start: true });
    checkBoolean("start", options.start);
    const { start, ...call } = options;
    const sandbox = await this.get(id, call);
    if (sandbox.status === "paused") await sandbox.resume(call);
    const { autoStart } = sandbox.toJSON();
    if (sandbox.status === "stopped" && (start ?? autoStart)) await sandbox.start(call);
    if (sandbox.status === "running") return sandbox;
    throw notRunning(sandbox.toJSON());
  }

  /** Deletes a sandbox and everything in it (DELETE /v1/sandboxes/{id}). Succeeds if the sandbox is already gone. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    try {
      await successOf(this.#parts.controlPlane.DELETE("/v1/sandboxes/{id}", at(id, options)));
    } catch (error) {
      if (!meansGone(error)) throw error;
    }
    this.#accesses.get(id)?.deleted();
    this.#accesses.delete(id);
    this.#owned.forget(id);
  }

  /**
   * Moves a sandbox's deadline to `seconds` from now, 1 to 86,400 (PUT /v1/sandboxes/{id}/timeout). Resolves with the new
   * deadline.
   */
  async setTimeout(id: string, seconds: number, options?: CallOptions): Promise<Date> {
    const body = { timeout_seconds: lifetime(seconds, "seconds") };
    const { controlPlane } = this.#parts;
    const wire = await successOf(
      controlPlane.PUT("/v1/sandboxes/{id}/timeout", { body, ...at(id, options) }),
    );
    return date(wire?.expires_at) ?? new Date(Date.now() + seconds * 1000);
  }

  /** Changes a sandbox's labels, and when it sleeps (PATCH /v1/sandboxes/{id}). */
  async update(id: string, options: UpdateSandboxOptions): Promise<Sandbox> {
    const { controlPlane } = this.#parts;
    const body = updateRequest(options);
    const { signal, requestTimeoutSeconds } = options;
    const init = { body, ...at(id, { signal, requestTimeoutSeconds }) };
    const [sandbox, wire] = await Promise.all([
      this.#maker(),
      bodyOf(controlPlane.PATCH("/v1/sandboxes/{id}", init), "id", "status"),
    ]);
    return sandbox(wire);
  }

  /** Makes sandboxes with the files of another one (POST /v1/sandboxes/{id}/fork). They are deleted if the caller does not get them. */
  async fork(id: string, options: ForkOptions = {}): Promise<(Sandbox | SandboxError)[]> {
    const { controlPlane, deleteOnSignal } = this.#parts;
    const { forkFailure, forkRequest } = await import("./sandbox-parts.js");
    const body = forkRequest(options);
    const { signal, requestTimeoutSeconds } = options;
    const init = { body, ...at(id, { signal, requestTimeoutSeconds }) };
    const onLost = (lost: Promise<Answer<WireForks>>): void =>
      this.background.run(() => this.#deleteAll(lost));
    const pending = controlPlane.POST("/v1/sandboxes/{id}/fork", { ...init, onLost });
    const [sandbox, { data }] = await Promise.all([this.#maker(), bodyOf(pending, "data")]);
    return data.map((fork) => {
      if (!fork.sandbox) return forkFailure(fork);
      if (deleteOnSignal) this.#owned.expect(Promise.resolve(fork.sandbox.id));
      return sandbox(fork.sandbox);
    });
  }

  async #deleteAll(forks: Promise<Answer<WireForks>>): Promise<void> {
    const { data } = await bodyOf(forks, "data");
    await Promise.all(data.map(({ sandbox }) => sandbox && this.delete(sandbox.id)));
  }

  /** Pauses a sandbox: its processes keep their memory, its deadline stays unless `onTimeout` says otherwise (POST /v1/sandboxes/{id}/pause). */
  pause(id: string, options?: CallOptions): Promise<SandboxStatus> {
    return this.#change("pause", "paused", id, options);
  }

  /** Resumes a paused sandbox (POST /v1/sandboxes/{id}/resume). */
  resume(id: string, options?: CallOptions): Promise<SandboxStatus> {
    return this.#change("resume", "running", id, options);
  }

  /** Starts a stopped sandbox: its files are kept, its processes are gone (POST /v1/sandboxes/{id}/start). */
  start(id: string, options?: CallOptions): Promise<SandboxStatus> {
    return this.#change("start", "running", id, options);
  }

  /** Stops a sandbox: ends its processes, keeps its files; its deadline stays unless `onTimeout` says otherwise (POST /v1/sandboxes/{id}/stop). */
  stop(id: string, options?: CallOptions): Promise<SandboxStatus> {
    return this.#change("stop", "stopped", id, options);
  }

  /**
   * Renews the token for a sandbox's agent (POST /v1/sandboxes/{id}/token/refresh). Calls do so automatically when
   * needed. Resolves with the time when the token expires, if known.
   */
  async refreshToken(id: string, options?: Pick<CallOptions, "signal">): Promise<Date | undefined> {
    checkKnown("refreshToken", options, { signal: true });
    const scope = new CallScope(options?.signal);
    try {
      const { expiresAt } = await unlessAborted(this.#access(id).tokens.renew(), scope);
      return expiresAt;
    } finally {
      scope.end();
    }
  }

  /** Changes a sandbox's state. Resolves with the status that the server reports, else with `status`. */
  async #change(
    change: "pause" | "resume" | "start" | "stop",
    status: SandboxStatus,
    id: string,
    options: CallOptions | undefined,
  ): Promise<SandboxStatus> {
    const pending = this.#parts.controlPlane.POST(`/v1/sandboxes/{id}/${change}`, at(id, options));
    return (await successOf(pending))?.status ?? status;
  }

  /** Loads the code of a sandbox's parts. Resolves with the function that turns an answer into a `Sandbox`. */
  async #maker(): Promise<(wire: WireSandbox) => Sandbox> {
    const parts = await import("./sandbox-parts.js");
    return (wire) => this.#sandbox(wire, parts);
  }

  #sandbox(wire: WireSandbox, parts: typeof SandboxParts): Sandbox {
    const record = sandboxRecord(wire);
    const access = this.#access(record.id);
    access.publicHost = record.publicHost;
    // A server that states the isolation has this project's extensions of the HOPX API. The cloud has neither.
    access.isExtended = record.isolation !== undefined;
    access.previews = { host: wire.preview_url_template, path: wire.preview_path_template };
    if (wire.auth_token && typeof wire.auth_token === "string")
      access.tokens.accept(issued(wire.auth_token, wire.token_expires_at));
    return Sandbox.of(record, access, this, this.#parts.timeouts, parts);
  }

  /** The access to one sandbox's agent, shared by all `Sandbox` objects of this id so that they share its token. */
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
type WireForks = ControlPlaneSchemas["ForkList"];

/** Seconds to delete one sandbox while a signal ends the process. */
const longestLastDelete = 5;
/**
 * The most agent accesses cached by id. A `Sandbox` object holds its own access, so dropping one here does not affect it.
 */
const mostAccesses = 1000;

function at(id: string, options?: CallOptions): { params: { path: { id: string } } } & CallInit {
  return { params: { path: { id: identifier("sandbox", id) } }, ...callInit(options) };
}

function issued(value: string, expiresAt: string | undefined): IssuedToken {
  return { value: asText(value), expiresAt: date(expiresAt) };
}

/** Whether the error says that the sandbox is gone. Requires JSON: a 404 page of a proxy proves nothing. */
function meansGone(error: unknown): boolean {
  if (error instanceof SandboxExpiredError) return true;
  return error instanceof NotFoundError && /\bjson\b/.test(error.headers["content-type"] ?? "");
}
