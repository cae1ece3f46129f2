import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { BackgroundWork } from "./agent/background-work.js";
import {
  type Backend,
  type LocalBackendOptions,
  type SandboxClientOptions,
  settingsFrom,
} from "./config/client-options.js";
import type { Isolation } from "./config/isolation.js";
import { LocalBackend } from "./config/local-backend.js";
import { type CallOptions, callInit, checkKnown, longestExecution, margin } from "./config/options.js";
import { invalidArgument, type SandboxError } from "./errors/errors.js";
import type { EventsOptions, SandboxEvent } from "./events/events.js";
import type {
  DetachedExecution,
  IsolatedExecutionOptions,
  IsolatedExecutionResult,
  StreamIsolatedOptions,
} from "./sandbox/isolated/isolated-options.js";
import { IsolatedExecutionStream } from "./sandbox/isolated/isolated-stream.js";
import type {
  IsolatedProgram,
  ManyExecutionsOptions,
  ManyExecutionsOutcome,
} from "./sandbox/isolated/many-executions.js";
import { Sandboxes } from "./sandbox/sandboxes.js";
import { Snapshots } from "./sandbox/snapshots.js";
import { StoredSecrets } from "./sandbox/stored-secrets.js";
import { Volumes } from "./sandbox/volumes.js";
import { Templates } from "./templates/templates.js";
import { Calls, ServerClock } from "./transport/calls/calls.js";
import type { Credentials } from "./transport/channel.js";
import {
  type Account,
  bodyOf,
  type ControlPlaneClient,
  controlPlaneClient,
} from "./transport/contract-clients.js";
import { defaultTransport } from "./transport/default-transport.js";
import type { Transport } from "./transport/http/transport.js";
import { decidedRetry } from "./transport/retry-policy.js";
import { ClientSockets } from "./transport/sockets/client-sockets.js";
import { Webhooks } from "./webhooks/webhooks.js";

/** Health of the control plane. */
export interface ServiceHealth {
  healthy: boolean;
  status: string;
  version: string | undefined;
  /** The runtime that starts the sandboxes, if the server says. */
  runtime: string | undefined;
  isolation: Isolation | undefined;
}

/** A client for a control plane and its sandboxes: a HOPX-compatible cloud, or the local backend. */
export class SandboxClient implements AsyncDisposable {
  /** Where sandboxes run: in the cloud or on this machine. */
  readonly backend: Backend;
  /** Creates, finds and deletes sandboxes. */
  readonly sandboxes: Sandboxes;
  /** Lists, builds and deletes templates, from which sandboxes are created. */
  readonly templates: Templates;
  /** Creates, lists and deletes volumes, which sandboxes mount. */
  readonly volumes: Volumes;
  /** Lists and deletes snapshots, which sandboxes begin with. */
  readonly snapshots: Snapshots;
  /** Sends what happens to URLs. */
  readonly webhooks: Webhooks;
  /** Stores, lists and deletes secrets, which sandboxes name instead of carrying them. */
  readonly secrets: StoredSecrets;
  /** Low-level client: every operation of the control plane's API, under its wire name. */
  readonly controlPlane: ControlPlaneClient;
  readonly #background: BackgroundWork;
  readonly #calls = new Calls();
  readonly #sockets: ClientSockets;
  readonly #transport: Transport;
  readonly #executionTimeout: number;
  #local: LocalBackend | undefined;

  /**
   * Creates a client. Options override environment variables. Without a key, sandboxes run on this machine: see the
   * option `backend`. Throws a `ConfigurationError` or a `ValidationError` for invalid options. If this machine cannot
   * run sandboxes, the first call rejects with a `ConfigurationError`.
   */
  constructor(options: SandboxClientOptions = {}) {
    const settings = settingsFrom(options);
    const { account, deleteOnSignal, hooks, log } = settings;
    const clock = new ServerClock();
    const { execution, idle, lifetime, request } = settings.timeouts;
    this.backend = account === undefined ? "local" : "cloud";
    this.#transport = defaultTransport(settings.fetch);
    this.#sockets = new ClientSockets(settings.webSocket);
    this.#background = new BackgroundWork((warning) => {
      log?.warn({ error: warning.name, code: warning.code }, warningText(warning));
      if (hooks.onWarning !== undefined) hooks.onWarning(warning);
      else if (log === undefined) emitWarning(warning);
    });
    this.#executionTimeout = execution;
    const shared = {
      transport: this.#transport,
      calls: this.#calls,
      retry: decidedRetry(settings.retry),
      observers: settings,
      timeouts: { request, idle, running: longestExecution + margin },
    };
    const find = (): Account | Promise<Account> => account ?? this.#openLocal(options.local);
    this.controlPlane = controlPlaneClient({ ...shared, clock }, find);
    this.templates = Templates.of({
      controlPlane: this.controlPlane,
      uploads: { ...shared, plane: "control plane", credentials: noCredentials },
      account: find,
    });
    this.volumes = Volumes.of(this.controlPlane);
    this.snapshots = Snapshots.of(this.controlPlane);
    this.webhooks = Webhooks.of(this.controlPlane);
    this.secrets = StoredSecrets.of(this.controlPlane);
    this.sandboxes = Sandboxes.of({
      controlPlane: this.controlPlane,
      agents: { ...shared, sockets: this.#sockets, background: this.#background },
      clock,
      deleteOnSignal,
      timeouts: { execution, lifetime, request },
    });
  }

  /**
   * Runs code in a new sandbox and deletes the sandbox afterwards, even after a failure. Code that fails is a result, not
   * an error. If `signal` fires, the code is killed and the sandbox deleted before the call rejects.
   *
   * A server that offers it runs the code in the same isolation without a sandbox (POST /v1/executions), which takes a
   * fraction of the time. It kills the code just after `signal` fires: the call does not wait for that. Options `egress`,
   * `region` and `stdin` always take a sandbox, and so does `detachAfterSeconds` unless `timeoutSeconds` is below it.
   *
   * With `onStdout`, `onStderr` or `onDisplay`, works like `executeIsolatedStream`. With `detachAfterSeconds`, which includes the
   * time to create the sandbox, code that still runs then continues in its sandbox, and the call returns the sandbox and a
   * handle of the code. The caller must then delete the sandbox; otherwise it ends after the code's `timeoutSeconds` plus
   * ten minutes.
   */
  executeIsolated(
    code: string,
    options?: IsolatedExecutionOptions & { detachAfterSeconds?: undefined },
  ): Promise<IsolatedExecutionResult>;
  executeIsolated(
    code: string,
    options: IsolatedExecutionOptions,
  ): Promise<IsolatedExecutionResult | DetachedExecution>;
  async executeIsolated(
    code: string,
    options: IsolatedExecutionOptions = {},
  ): Promise<IsolatedExecutionResult | DetachedExecution> {
    const timeoutSeconds = options?.timeoutSeconds ?? this.#executionTimeout;
    const { executeIsolated } = await import("./sandbox/isolated/isolated-execution.js");
    const own = options && { ...options, timeoutSeconds };
    return executeIsolated(this.controlPlane, this.sandboxes, this.#background, code, own);
  }

  /**
   * Runs code like `executeIsolated` and streams its output: `for await` yields `stdout` and `stderr` as they are written,
   * then the `result`; `result()` gives only the result. The code starts with the first read. Leaving the loop, `close()`
   * and `signal` kill it. A stream that breaks before the code has ended throws; it never looks like success. Code that
   * runs without a sandbox waits while its reader is far behind.
   */
  executeIsolatedStream(code: string, options: StreamIsolatedOptions = {}): IsolatedExecutionStream {
    return IsolatedExecutionStream.of(async () => {
      const timeoutSeconds = options?.timeoutSeconds ?? this.#executionTimeout;
      const { readIsolated } = await import("./sandbox/isolated/isolated-reading.js");
      const own = options && { ...options, timeoutSeconds };
      return readIsolated(this.controlPlane, this.sandboxes, this.#background, code, own);
    });
  }

  /**
   * Runs programs like `executeIsolated`, `concurrency` at a time, and yields an outcome for each as soon as it has ended:
   * its `index` among the programs, and its `result` or the `error` with which it failed. The next program is read from
   * `programs` only when it can start, so any number of them takes constant memory. Leaving the loop kills running programs.
   */
  async *executeIsolatedMany(
    programs: Iterable<IsolatedProgram> | AsyncIterable<IsolatedProgram>,
    options: ManyExecutionsOptions = {},
  ): AsyncGenerator<ManyExecutionsOutcome, void, undefined> {
    const { executeMany } = await import("./sandbox/isolated/many-executions.js");
    yield* executeMany(programs, options, (code, own) => this.executeIsolated(code, own));
  }

  /**
   * Yields what happens to the sandboxes that the key sees, their executions, and, with the server's own key, builds and keys, in the
   * order in which it happened (GET /v1/events). It begins with the first read and ends when the loop is left, or with `signal`. A
   * connection that breaks is opened again where it was, for 5 minutes, also over a restart of the server. An extension: on the cloud,
   * throws a `NotFoundError`; one with the code EVENTS_GONE says that the events after `since` are not kept any more: that is so after 24
   * hours, and after 20,000 later ones of the key.
   *
   * ```ts
   * for await (const { type, sandboxId, reason } of client.events({ types: ["sandbox.failed"] })) notify(sandboxId, reason);
   * ```
   */
  async *events(options: EventsOptions = {}): AsyncGenerator<SandboxEvent, void, undefined> {
    const { readEvents } = await import("./events/events.js");
    yield* readEvents(this.controlPlane, options);
  }

  /** Checks the health of the control plane (GET /health). Works without a valid key. */
  async health(options?: CallOptions): Promise<ServiceHealth> {
    return serviceHealth(await bodyOf(this.controlPlane.GET("/health", callInit(options)), "status"));
  }

  /**
   * Closes the client; it cannot be used afterwards. Waits for running calls and cleanup, for `timeoutSeconds` (default
   * 30). Calls still running then are stopped as by their `signal`, and their cleanup gets at most 5 s more. Then closes
   * streams and connections. Waiting for a background program or a template build is not a running call: it rejects with
   * a `SandboxError` (CLIENT_CLOSED), as streams over HTTP do. A local backend that this client started ends with all its
   * sandboxes.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    checkKnown("close", options, { timeoutSeconds: true });
    const { timeoutSeconds = 30 } = options;
    if (!(timeoutSeconds >= 0))
      throw invalidArgument("timeoutSeconds must be a number of seconds, 0 or more.");
    const over = Promise.all([this.#sockets.close(), this.#background.end()]).then(() => this.#calls.end());
    if (!(await endsWithin(timeoutSeconds, over))) {
      this.#calls.stop();
      await endsWithin(longestCleanUp, over);
    }
    this.#calls.endStreams();
    await this.#transport.close();
    await this.#local?.close();
  }

  async #openLocal(options: LocalBackendOptions | undefined): Promise<Account> {
    this.#local ??= new LocalBackend(options);
    return this.#local.open();
  }

  /** Same as `close()`, at the end of the scope of `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Options of `close`. */
export interface CloseOptions {
  /** Seconds to wait for running calls, 0 or more. Default 30. */
  timeoutSeconds?: number | undefined;
}

/** Seconds for the cleanup of calls that `close` stopped. */
const longestCleanUp = 5;

async function endsWithin(seconds: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.min(seconds * 1000, 2 ** 31 - 1));
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Emits a process warning, in runtimes that have them. */
function emitWarning(warning: SandboxError): void {
  globalThis.process?.emitWarning?.(warningText(warning), { type: "SandboxWarning", code: warning.code });
}

function warningText({ message }: SandboxError): string {
  return `Cleanup failed: a sandbox or a program may still run. ${message}`;
}

const noCredentials: Credentials = { headers: () => ({}), secrets: () => [] };

function serviceHealth(wire: ControlPlaneSchemas["Health"]): ServiceHealth {
  const { isolation, runtime, status, version } = wire;
  return { healthy: status === "healthy" || status === "ok", status, version, runtime, isolation };
}
