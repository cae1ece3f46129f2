import type { AgentAccess } from "../agent/agent-access.js";
import type { BackgroundWork } from "../agent/background-work.js";
import type { SandboxLinks } from "../agent/sandbox-links.js";
import type { Isolation } from "../config/isolation.js";
import { type CallOptions, checkKnown } from "../config/options.js";
import type { Desktop } from "../desktop/desktop.js";
import type { SandboxError } from "../errors/errors.js";
import type { AsyncExecuteOptions, BackgroundExecuteOptions } from "../execution/background-options.js";
import type { Commands } from "../execution/commands.js";
import type { Contexts } from "../execution/contexts.js";
import {
  type ExecuteOptions,
  executeOptionNames,
  executeRequest,
  type StreamExecuteOptions,
  streamExecuteOptionNames,
} from "../execution/execute-options.js";
import type { Execution } from "../execution/execution.js";
import type { ExecutionStream } from "../execution/execution-stream.js";
import type { Processes } from "../execution/processes.js";
import type { PythonPackages } from "../execution/python-packages.js";
import type { ExecutionResult } from "../execution/results/execution-result.js";
import type { Files } from "../files/files.js";
import type { EnvironmentVariables } from "../machine/environment-variables.js";
import type { Metrics } from "../machine/metrics.js";
import type { Ports } from "../machine/ports.js";
import type { System } from "../machine/system.js";
import type { Terminals } from "../streams/terminal.js";
import type { ServerClock } from "../transport/calls/calls.js";
import type { AgentClient, ControlPlaneClient } from "../transport/contract-clients.js";
import type {
  AppliedChange,
  ApplyOptions,
  ChangesOptions,
  DiffOptions,
  FileDiff,
  SandboxChange,
} from "./changes.js";
import type { Expiring } from "./deadline.js";
import type { SandboxEgress } from "./egress.js";
import type { ExpiringOptions } from "./expiry-notice.js";
import type { KeepAlive, KeepAliveOptions } from "./keep-alive.js";
import type * as SandboxParts from "./sandbox-parts.js";
import type { SandboxRecord, SandboxStatus } from "./sandbox-record.js";
import type { SandboxSecrets } from "./secrets.js";
import type { UpdateSandboxOptions } from "./sleep-options.js";
import type { ForkOptions, SnapshotOptions, SnapshotRecord, SnapshotReference } from "./snapshots.js";

/** The method that Node.js calls to print an object; it receives Node's own `inspect`. */
const inspected = Symbol.for("nodejs.util.inspect.custom");
type Inspect = (value: unknown, options: object) => string;

/** Default timeouts, in seconds. */
export interface SandboxTimeouts {
  execution: number;
  request: number;
}

/** The control plane operations that a sandbox uses. */
export interface SandboxOperations {
  readonly background: BackgroundWork;
  readonly clock: ServerClock;
  readonly controlPlane: ControlPlaneClient;
  get(id: string, options?: CallOptions): Promise<Sandbox>;
  delete(id: string, options?: CallOptions): Promise<void>;
  update(id: string, options: UpdateSandboxOptions): Promise<Sandbox>;
  fork(id: string, options: ForkOptions): Promise<(Sandbox | SandboxError)[]>;
  setTimeout(id: string, seconds: number, options?: CallOptions): Promise<Date>;
  pause(id: string, options?: CallOptions): Promise<SandboxStatus>;
  resume(id: string, options?: CallOptions): Promise<SandboxStatus>;
  start(id: string, options?: CallOptions): Promise<SandboxStatus>;
  stop(id: string, options?: CallOptions): Promise<SandboxStatus>;
  refreshToken(id: string, options?: Pick<CallOptions, "signal">): Promise<Date | undefined>;
}

/**
 * An isolated machine. Its facts (`status`, `expiresAt`, …) are from the control plane's last answer; `refresh()` updates
 * them. Leaving the scope of `await using` deletes the sandbox.
 */
export class Sandbox implements AsyncDisposable {
  /** Runs commands in the sandbox. */
  readonly commands: Commands;
  /** Programs that run in the background of the sandbox. */
  readonly processes: Processes;
  /** The sandbox's TCP ports, reached from outside. */
  readonly ports: Ports;
  /** Interpreters that keep variables between executions. */
  readonly contexts: Contexts;
  readonly #access: AgentAccess;
  readonly #sandboxes: SandboxOperations;
  readonly #timeouts: SandboxTimeouts;
  readonly #parts: typeof SandboxParts;
  readonly #links: SandboxLinks;
  #record: SandboxRecord;
  #files: Files | undefined;
  #env: EnvironmentVariables | undefined;
  #secrets: SandboxSecrets | undefined;
  #egress: SandboxEgress | undefined;
  #pythonPackages: PythonPackages | undefined;
  #terminal: Terminals | undefined;
  #metrics: Metrics | undefined;
  #system: System | undefined;
  #desktop: Desktop | undefined;

  /** @internal */
  static of(
    record: SandboxRecord,
    access: AgentAccess,
    sandboxes: SandboxOperations,
    timeouts: SandboxTimeouts,
    parts: typeof SandboxParts,
  ): Sandbox {
    return new Sandbox(record, access, sandboxes, timeouts, parts);
  }

  /** @internal */
  static accessOf(sandbox: Sandbox): AgentAccess {
    return sandbox.#access;
  }

  private constructor(
    record: SandboxRecord,
    access: AgentAccess,
    sandboxes: SandboxOperations,
    timeouts: SandboxTimeouts,
    parts: typeof SandboxParts,
  ) {
    this.#record = record;
    this.#access = access;
    this.#sandboxes = sandboxes;
    this.#timeouts = timeouts;
    this.#parts = parts;
    this.commands = parts.Commands.of(access, timeouts.execution);
    this.processes = parts.Processes.of(access);
    this.contexts = parts.Contexts.of(access, timeouts.execution);
    this.#links = new parts.SandboxLinks(sandboxes.controlPlane, record.id);
    this.ports = parts.Ports.of(access, this.commands, this.#links);
  }

  /** The sandbox's files, below /workspace and /tmp. */
  get files(): Files {
    this.#files ??= this.#parts.Files.of(this.#access, this.commands, this.#timeouts.request, this.#links);
    return this.#files;
  }

  /** Environment variables that every execution in the sandbox sees. */
  get env(): EnvironmentVariables {
    this.#env ??= this.#parts.EnvironmentVariables.of(this.#access);
    return this.#env;
  }

  /** What the sandbox may reach. */
  get egress(): SandboxEgress {
    this.#egress ??= this.#parts.SandboxEgress.of(this.#sandboxes.controlPlane, this.id);
    return this.#egress;
  }

  /** Credentials that code in the sandbox uses without having them. */
  get secrets(): SandboxSecrets {
    this.#secrets ??= this.#parts.SandboxSecrets.of(this.#sandboxes.controlPlane, this.id);
    return this.#secrets;
  }

  /** Installs packages for the sandbox's Python. */
  get pythonPackages(): PythonPackages {
    this.#pythonPackages ??= this.#parts.PythonPackages.of(this.commands);
    return this.#pythonPackages;
  }

  /** Interactive shells in the sandbox. */
  get terminal(): Terminals {
    this.#terminal ??= this.#parts.Terminals.of(this.#access);
    return this.#terminal;
  }

  /** Counters of the sandbox's agent, and resource use of its machine. */
  get metrics(): Metrics {
    this.#metrics ??= this.#parts.Metrics.of(this.#access, this.#sandboxes.controlPlane);
    return this.#metrics;
  }

  /** Information about the sandbox's agent, machine, processes and interpreters. */
  get system(): System {
    this.#system ??= this.#parts.System.of(this.#access);
    return this.#system;
  }

  /** The sandbox's graphical desktop, if its template has one. */
  get desktop(): Desktop {
    this.#desktop ??= this.#parts.Desktop.of(this.#access);
    return this.#desktop;
  }

  /** Id of the sandbox at the control plane; `client.sandboxes.connect(id)` finds the sandbox again. */
  get id(): string {
    return this.#record.id;
  }

  /** Status of the sandbox as last reported by the control plane. */
  get status(): SandboxStatus {
    return this.#record.status;
  }

  /** The name given when the sandbox was created. */
  get name(): string | undefined {
    return this.#record.name;
  }

  /** The sandbox's labels. */
  get metadata(): Readonly<Record<string, string>> {
    return this.#record.metadata;
  }

  /** Name of the sandbox's template. */
  get template(): string | undefined {
    return this.#record.template;
  }

  /** What separates the sandbox from its host; undefined if the server does not say. */
  get isolation(): Isolation | undefined {
    return this.#record.isolation;
  }

  /** The sandbox's deadline, at which `onTimeout` says what happens; undefined if it has none. */
  get expiresAt(): Date | undefined {
    return this.#record.expiresAt;
  }

  /** Address of the sandbox's agent. The sandbox's token is sent nowhere else. */
  get publicHost(): string | undefined {
    return this.#record.publicHost;
  }

  /** Low-level client: every operation of the agent's API, under its wire name. */
  get agent(): AgentClient {
    return this.#access.client;
  }

  /**
   * Runs code and waits for its end, at most for `detachAfterSeconds`. Returns everything that it wrote and displayed. Code that
   * fails is a result, not an error. If `signal` fires, the code is killed. Python and JavaScript variables are kept for the
   * next call; executions of the same language run one after the other.
   *
   * It is one request (POST /execute/rich; where the server lacks that, POST /execute, which gives the first display of each
   * type). With `onStdout`, `onStderr` or `onDisplay` the code runs over a WebSocket (/execute/stream), and errors are those
   * of `executeStream`. With `detachAfterSeconds` below `timeoutSeconds` it runs in the background (POST /execute/background),
   * except on servers that do not state their isolation, such as the cloud: background code has neither variables nor
   * output there, so the call waits for the end.
   */
  execute(
    code: string,
    options?: ExecuteOptions & { detachAfterSeconds?: undefined },
  ): Promise<ExecutionResult>;
  execute(code: string, options: ExecuteOptions): Promise<ExecutionResult | Execution>;
  async execute(code: string, options: ExecuteOptions = {}): Promise<ExecutionResult | Execution> {
    checkKnown("execute", options, executeOptionNames);
    return this.#parts.execute(
      this.#access,
      executeRequest(code, options, this.#timeouts.execution),
      options,
    );
  }

  /**
   * Runs code and streams its output (WebSocket /execute/stream): `for await` yields `stdout` and `stderr` as they are
   * written, then the `result`; `result()` gives only the result. The code starts with the first read; leaving the loop,
   * `close()` and `signal` end it. Variables are kept as with `execute`.
   *
   * Reading throws a `StreamClosedError` if the connection breaks before the code has ended, and a `TimeoutError` of kind
   * `idle` if the server is silent for `timeouts.idleSeconds`. A broken stream never looks like success.
   */
  executeStream(code: string, options: StreamExecuteOptions = {}): ExecutionStream {
    checkKnown("executeStream", options, streamExecuteOptionNames);
    const request = executeRequest(code, options, this.#timeouts.execution);
    return this.#parts.codeStream(this.#access, request, options.signal);
  }

  /**
   * Starts code in the background and returns at once (POST /execute/background). Unless `context` is given, the code
   * runs in a process of its own, without the variables of other executions. Its time limit is 300 s unless
   * `timeoutSeconds` is given. It ends with the sandbox at the latest.
   */
  async executeBackground(code: string, options: BackgroundExecuteOptions = {}): Promise<Execution> {
    return this.#parts.executeBackground(this.#access, code, options);
  }

  /**
   * Starts code and reports its end with a POST to `callbackUrl` (POST /execute/async). The report is sent at least once,
   * also if the sandbox ends first. Verify it with `verifyWebhook`.
   */
  async executeAsync(
    code: string,
    callbackUrl: string,
    options: AsyncExecuteOptions = {},
  ): Promise<Execution> {
    return this.#parts.executeAsync(this.#access, code, callbackUrl, options);
  }

  /** Updates the sandbox's facts from the control plane (GET /v1/sandboxes/{id}). */
  async refresh(options?: CallOptions): Promise<this> {
    this.#record = (await this.#sandboxes.get(this.id, options)).toJSON();
    return this;
  }

  /**
   * Changes the sandbox's labels, and when it sleeps (PATCH /v1/sandboxes/{id}). What is left out stays as it is.
   *
   * ```ts
   * await sandbox.update({ idleTimeoutSeconds: 600, onTimeout: "stop", autoStart: true });
   * ```
   */
  async update(options: UpdateSandboxOptions): Promise<void> {
    this.#record = (await this.#sandboxes.update(this.id, options)).toJSON();
  }

  /** Moves the sandbox's deadline to `seconds` from now, 1 to 86,400 (PUT /v1/sandboxes/{id}/timeout). */
  async setTimeout(seconds: number, options?: CallOptions): Promise<void> {
    const expiresAt = await this.#sandboxes.setTimeout(this.id, seconds, options);
    this.#record = { ...this.#record, timeoutSeconds: seconds, expiresAt };
  }

  /** Pauses the sandbox: its processes keep their memory. Its deadline stays, unless `onTimeout` is another than `delete` (POST /v1/sandboxes/{id}/pause). */
  async pause(options?: CallOptions): Promise<void> {
    this.#record = { ...this.#record, status: await this.#sandboxes.pause(this.id, options) };
  }

  /** Resumes the sandbox after a pause (POST /v1/sandboxes/{id}/resume). */
  async resume(options?: CallOptions): Promise<void> {
    this.#record = { ...this.#record, status: await this.#sandboxes.resume(this.id, options) };
  }

  /**
   * Starts the sandbox after a stop: its files and variables are kept, its processes are gone (POST
   * /v1/sandboxes/{id}/start). A running sandbox is left as it is; a paused one is a `ConflictError`.
   */
  async start(options?: CallOptions): Promise<void> {
    this.#record = { ...this.#record, status: await this.#sandboxes.start(this.id, options) };
  }

  /** Stops the sandbox: ends its processes, keeps its files. Its deadline stays, unless `onTimeout` is another than `delete` (POST /v1/sandboxes/{id}/stop). */
  async stop(options?: CallOptions): Promise<void> {
    this.#record = { ...this.#record, status: await this.#sandboxes.stop(this.id, options) };
  }

  /**
   * Lists what code has changed in the sandbox, by path (GET /v1/sandboxes/{id}/changes): in its copy of a directory, if it has one; else
   * since its template; or since one of its snapshots. For a template or a snapshot, files whose type, size and time of the last change
   * are the same count as unchanged, and a sandbox is started meanwhile to compare with: it counts as one. More than 100,000 changes, 32
   * MiB of them, or 1,000,000 files are an error of status 413 (`PAYLOAD_TOO_LARGE`); a sandbox that does not run is a `ConflictError`.
   *
   * ```ts
   * const snapshot = await sandbox.snapshot();
   * await sandbox.execute("open('made.txt', 'w').write('made')");
   * const changes = await sandbox.changes({ since: snapshot });
   * ```
   */
  async changes(options?: ChangesOptions): Promise<SandboxChange[]> {
    return this.#parts.changesOf(this.#sandboxes.controlPlane, this.id, options);
  }

  /**
   * The unified diff of one changed file, at most 1 MiB on each side (GET /v1/sandboxes/{id}/diff). A path that neither side has is a
   * `NotFoundError`.
   */
  async diff(path: string, options?: DiffOptions): Promise<FileDiff> {
    return this.#parts.diffOf(this.#sandboxes.controlPlane, this.id, path, options);
  }

  /**
   * Writes accepted changes to the directory that the sandbox has a copy of (POST /v1/sandboxes/{id}/apply). A path that is not
   * applied is an outcome, not an error. Applying again changes nothing.
   *
   * ```ts
   * const changes = await sandbox.changes();
   * const outcomes = await sandbox.apply({ paths: changes.filter(({ runs }) => !runs) });
   * ```
   */
  async apply(options?: ApplyOptions): Promise<AppliedChange[]> {
    return this.#parts.applyChanges(this.#sandboxes.controlPlane, this.id, options);
  }

  /**
   * Keeps the sandbox's files as they are now (POST /v1/sandboxes/{id}/snapshots). The sandbox goes on, and stands still meanwhile where
   * its server can freeze it: `consistent` says so. Kept are files, environment variables, template and limits; not processes, variables
   * of interpreters, volumes and values of secrets.
   *
   * ```ts
   * const { id } = await sandbox.snapshot({ name: "installed" });
   * await using another = await client.sandboxes.create({ snapshot: id });
   * ```
   */
  async snapshot(options?: SnapshotOptions): Promise<SnapshotRecord> {
    return this.#parts.takeSnapshot(this.#sandboxes.controlPlane, this.id, options);
  }

  /**
   * Makes sandboxes that begin with this one's files, all of one moment (POST /v1/sandboxes/{id}/fork). They have its template, limits,
   * labels, egress, volumes, secrets and sleep settings, but no name. Resolves with a sandbox for each, or with the error for one that
   * could not be made. Without room for all of them, none is made, and it throws.
   */
  async fork(options: ForkOptions = {}): Promise<(Sandbox | SandboxError)[]> {
    return this.#sandboxes.fork(this.id, options);
  }

  /**
   * Gives the sandbox the files of a snapshot, in place of all that it has (POST /v1/sandboxes/{id}/restore). Its processes end; its id,
   * links and settings stay. A snapshot of another template is a `ConflictError`.
   */
  async restore(snapshot: SnapshotReference, options?: CallOptions): Promise<void> {
    const { controlPlane } = this.#sandboxes;
    const status = await this.#parts.restoreSandbox(controlPlane, this.id, snapshot, options);
    this.#record = { ...this.#record, status };
  }

  /**
   * Moves the sandbox's deadline while this client uses the sandbox (calls of any `Sandbox` object of this id), and ends
   * when it was not used for `seconds`. Never makes the deadline earlier.
   */
  keepAlive(options: KeepAliveOptions = {}): KeepAlive {
    const { activity } = this.#access;
    return this.#parts.KeepAlive.of(
      { ...this.#expiring, activity, extend: (seconds) => this.setTimeout(seconds) },
      options,
    );
  }

  /**
   * Calls `callback` shortly before the sandbox's deadline, and once more for each later deadline set meanwhile, until
   * the returned function is called or the client is closed. Never calls it if there is no deadline. An error that the
   * callback throws becomes an unhandled rejection.
   */
  onExpiring(callback: (sandbox: this) => unknown, options?: ExpiringOptions): () => void {
    return this.#parts.noticeExpiry(this.#expiring, callback, this, options);
  }

  /**
   * Renews the token for the sandbox's agent (POST /v1/sandboxes/{id}/token/refresh). Calls do so automatically when
   * needed.
   */
  async refreshToken(options?: Pick<CallOptions, "signal">): Promise<Date | undefined> {
    return this.#sandboxes.refreshToken(this.id, options);
  }

  /** Deletes the sandbox and everything in it (DELETE /v1/sandboxes/{id}). Succeeds if the sandbox is already gone. */
  async delete(options?: CallOptions): Promise<void> {
    await this.#sandboxes.delete(this.id, options);
    this.#record = { ...this.#record, status: "deleted" };
  }

  /** Same as `delete()`, at the end of the scope of `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.delete();
  }

  get #expiring(): Expiring {
    return {
      remaining: () => this.expiresAt && this.#sandboxes.clock.until(this.expiresAt),
      refresh: () => this.refresh(),
      isDeleted: () => this.status === "deleted",
    };
  }

  /** The sandbox's facts, without any token. */
  toJSON(): SandboxRecord {
    return this.#record;
  }

  /** @internal Prints the sandbox for `console.log` on Node.js. */
  [inspected](_depth: number, options: object, inspect: Inspect): string {
    return `Sandbox ${inspect(this.toJSON(), options)}`;
  }
}
