import type { AgentAccess } from "../agent/agent-access.js";
import type { BackgroundWork } from "../agent/background-work.js";
import { type CallOptions, callInit } from "../config/call-options.js";
import type { Isolation } from "../config/isolation.js";
import { margin } from "../config/time-limits.js";
import type { Desktop } from "../desktop/desktop.js";
import type { AsyncExecuteOptions, BackgroundExecuteOptions } from "../execution/background-options.js";
import { Commands } from "../execution/commands.js";
import { executionStreamOf } from "../execution/deferred-executions.js";
import type { DetachOptions } from "../execution/detach.js";
import { type ExecuteOptions, executeRequest } from "../execution/execute-options.js";
import type { Execution } from "../execution/execution.js";
import { type ExecutionResult, executionResult, type ProgramResult } from "../execution/execution-result.js";
import type { ExecutionStream } from "../execution/execution-stream.js";
import { Processes } from "../execution/processes.js";
import type { PythonPackages } from "../execution/python-packages.js";
import type { RichExecutionResult } from "../execution/rich-execution.js";
import type { RunningOptions } from "../execution/running-options.js";
import type { Files } from "../files/files.js";
import type { EnvironmentVariables } from "../machine/environment-variables.js";
import type { Metrics } from "../machine/metrics.js";
import { Ports } from "../machine/ports.js";
import type { System } from "../machine/system.js";
import type { Terminals } from "../streams/terminal.js";
import type { ServerClock } from "../transport/calls/server-clock.js";
import { type AgentClient, type ControlPlaneClient, readBody } from "../transport/contract-clients.js";
import type { Expiring } from "./deadline.js";
import { type ExpiringOptions, noticeExpiry } from "./expiry-notice.js";
import { KeepAlive, type KeepAliveOptions } from "./keep-alive.js";
import {
  desktopOf,
  environmentOf,
  filesOf,
  metricsOf,
  pythonPackagesOf,
  systemOf,
  terminalsOf,
} from "./sandbox-parts.js";
import type { SandboxRecord, SandboxStatus } from "./sandbox-record.js";

/** What Node.js calls in place of looking at the object, given its own `inspect`. */
const inspected = Symbol.for("nodejs.util.inspect.custom");
type Inspect = (value: unknown, options: object) => string;

/** Seconds. */
export interface SandboxTimeouts {
  execution: number;
  request: number;
}

/** What a sandbox asks of the control plane it belongs to. */
export interface SandboxOperations {
  readonly background: BackgroundWork;
  readonly clock: ServerClock;
  readonly controlPlane: ControlPlaneClient;
  get(id: string, options?: CallOptions): Promise<Sandbox>;
  delete(id: string, options?: CallOptions): Promise<void>;
  setTimeout(id: string, seconds: number, options?: CallOptions): Promise<Date>;
  pause(id: string, options?: CallOptions): Promise<SandboxStatus>;
  resume(id: string, options?: CallOptions): Promise<SandboxStatus>;
  start(id: string, options?: CallOptions): Promise<SandboxStatus>;
  stop(id: string, options?: CallOptions): Promise<SandboxStatus>;
  refreshToken(id: string, options?: Pick<CallOptions, "signal">): Promise<Date | undefined>;
}

/**
 * An isolated machine. Its facts (`status`, `expiresAt`, …) are those of the last answer of the control plane about it;
 * `refresh()` asks again. Leaving the scope of `await using` deletes it.
 */
export class Sandbox implements AsyncDisposable {
  /** Programs in it. */
  readonly commands: Commands;
  /** Programs that run in its background. */
  readonly processes: Processes;
  /** Its TCP ports, from outside. */
  readonly ports: Ports;
  readonly #access: AgentAccess;
  readonly #sandboxes: SandboxOperations;
  readonly #timeouts: SandboxTimeouts;
  #record: SandboxRecord;
  #files: Files | undefined;
  #env: EnvironmentVariables | undefined;
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
  ): Sandbox {
    return new Sandbox(record, access, sandboxes, timeouts);
  }

  private constructor(
    record: SandboxRecord,
    access: AgentAccess,
    sandboxes: SandboxOperations,
    timeouts: SandboxTimeouts,
  ) {
    this.#record = record;
    this.#access = access;
    this.#sandboxes = sandboxes;
    this.#timeouts = timeouts;
    this.commands = Commands.of(access, timeouts.execution);
    this.processes = Processes.of(access);
    this.ports = Ports.of(access, this.commands);
  }

  /** Its files, below /workspace and /tmp. */
  get files(): Files {
    this.#files ??= filesOf(this.#access, this.commands, this.#timeouts.request);
    return this.#files;
  }

  /** The environment variables that every execution in it sees. */
  get env(): EnvironmentVariables {
    this.#env ??= environmentOf(this.#access);
    return this.#env;
  }

  /** Packages for its Python. */
  get pythonPackages(): PythonPackages {
    this.#pythonPackages ??= pythonPackagesOf(this.commands);
    return this.#pythonPackages;
  }

  /** Interactive shells. */
  get terminal(): Terminals {
    this.#terminal ??= terminalsOf(this.#access);
    return this.#terminal;
  }

  /** Counters of its agent and the use of its machine. */
  get metrics(): Metrics {
    this.#metrics ??= metricsOf(this.#access, this.#sandboxes.controlPlane);
    return this.#metrics;
  }

  /** What it is and does: agent, machine, processes, interpreters. */
  get system(): System {
    this.#system ??= systemOf(this.#access);
    return this.#system;
  }

  /** Its graphical desktop, if its template has one. */
  get desktop(): Desktop {
    this.#desktop ??= desktopOf(this.#access);
    return this.#desktop;
  }

  /** Names it at the control plane; `client.sandboxes.connect(id)` leads here again. */
  get id(): string {
    return this.#record.id;
  }

  /** What it was doing when the control plane was asked last. */
  get status(): SandboxStatus {
    return this.#record.status;
  }

  /** The name it was created with. */
  get name(): string | undefined {
    return this.#record.name;
  }

  /** The labels it was created with. */
  get metadata(): Readonly<Record<string, string>> {
    return this.#record.metadata;
  }

  /** The name of its template. */
  get template(): string | undefined {
    return this.#record.template;
  }

  /** What stands between it and its host; undefined where the server does not say. */
  get isolation(): Isolation | undefined {
    return this.#record.isolation;
  }

  /** When it is deleted; undefined where it has no deadline. */
  get expiresAt(): Date | undefined {
    return this.#record.expiresAt;
  }

  /** Where its agent answers; its token is sent to no other place. */
  get publicHost(): string | undefined {
    return this.#record.publicHost;
  }

  /** Every operation of the agent's contract, under the wire's own names. */
  get agent(): AgentClient {
    return this.#access.client;
  }

  /**
   * Runs code and waits for its end (POST /execute). A program that fails is a result, not an error; when `signal`
   * fires, it is killed. Variables of Python and JavaScript are there for the next call; executions of one language
   * run one after the other.
   */
  async execute(code: string, options: ExecuteOptions = {}): Promise<ExecutionResult> {
    const body = executeRequest(code, options, this.#timeouts.execution);
    const init = callInit(options, body.timeout + margin);
    return readBody(this.agent.POST("/execute", { body, ...init }), executionResult, "stdout", "exit_code");
  }

  /**
   * Runs code and gives everything that it displays (POST /execute/rich): figures, tables, HTML, JSON, with methods for
   * their bytes and for saving them. Else as `execute`; a server that lacks this operation gives the first of each kind.
   */
  async executeRich(code: string, options: Omit<ExecuteOptions, "cache"> = {}): Promise<RichExecutionResult> {
    const body = executeRequest(code, options, this.#timeouts.execution);
    const init = callInit(options, body.timeout + margin);
    const { executeRich } = await import("../execution/rich-execution.js");
    return executeRich(this.agent, body, init);
  }

  /**
   * Runs code and tells what it writes while it runs (WebSocket /execute/stream): `for await` gives `stdout` and `stderr`
   * as they are written, and at last the `result`; `result()` gives that alone. The program starts with the first read;
   * leaving the loop, `close()` and `signal` end it. Variables stay as with `execute`.
   *
   * Reading ends with a `StreamClosedError` when the connection breaks before the program has ended, with a `TimeoutError`
   * of kind `idle` when the server gives no sign of life for `timeouts.idleSeconds`, never as if it had succeeded.
   */
  executeStream(code: string, options: Omit<ExecuteOptions, "cache"> = {}): ExecutionStream {
    const { timeout, ...request } = executeRequest(code, options, this.#timeouts.execution);
    const first = { type: "execute", ...request, timeout, capture_rich: true };
    const { signal } = options;
    return executionStreamOf({ access: this.#access, path: "/execute/stream", first, timeout, signal });
  }

  /**
   * Starts code and does not wait for it (POST /execute/background). It runs in a process of its own, without the variables
   * of other executions, for 300 s unless `timeoutSeconds` says more; the sandbox's end is its end.
   */
  async executeBackground(code: string, options: BackgroundExecuteOptions = {}): Promise<Execution> {
    const { executeBackground } = await import("../execution/background-execution.js");
    return executeBackground(this.#access, code, options);
  }

  /**
   * As `execute`, for callers who are cut off after a while: code that still runs after `detachAfterSeconds` goes on in the
   * background, and its handle is the result: `run.kind` tells which, `result` or `execution`. Variables stay, as with `execute`; it is one and
   * the same run. A `timeoutSeconds` below that is as `executeRich`. A server that does not state its isolation, such as the cloud, is
   * asked for a plain `execute`: its background has neither variables nor output.
   */
  async executeOrDetach(
    code: string,
    options: Omit<ExecuteOptions, "cache" | "requestTimeoutSeconds"> & DetachOptions = {},
  ): Promise<ExecutionResult | Execution> {
    const { executeOrDetach } = await import("../execution/detach.js");
    return executeOrDetach(this, code, options, this.#timeouts.execution, this.#sandboxes.background);
  }

  /** As `commands.run`, for callers who are cut off after a while, as `executeOrDetach` is for code. */
  async runOrDetach(
    command: string | readonly string[],
    options: Omit<RunningOptions, "requestTimeoutSeconds"> & DetachOptions = {},
  ): Promise<ProgramResult | Execution> {
    const { runOrDetach } = await import("../execution/detach.js");
    return runOrDetach(this, command, options, this.#timeouts.execution, this.#sandboxes.background);
  }

  /**
   * Starts code whose end is reported by a POST to `callbackUrl` (POST /execute/async), at least once, also when the
   * sandbox ends first. Check what arrives with `verifyWebhook`.
   */
  async executeAsync(
    code: string,
    callbackUrl: string,
    options: AsyncExecuteOptions = {},
  ): Promise<Execution> {
    const { executeAsync } = await import("../execution/background-execution.js");
    return executeAsync(this.#access, code, callbackUrl, options);
  }

  /** Asks the control plane for its facts (GET /v1/sandboxes/{id}). */
  async refresh(options?: CallOptions): Promise<this> {
    this.#record = (await this.#sandboxes.get(this.id, options)).toJSON();
    return this;
  }

  /** Moves its deadline to `seconds` from now, 1 to 86,400 (PUT /v1/sandboxes/{id}/timeout). */
  async setTimeout(seconds: number, options?: CallOptions): Promise<void> {
    const expiresAt = await this.#sandboxes.setTimeout(this.id, seconds, options);
    this.#record = { ...this.#record, timeoutSeconds: seconds, expiresAt };
  }

  /** Freezes it: its processes keep their memory, its deadline goes on (POST /v1/sandboxes/{id}/pause). */
  async pause(options?: CallOptions): Promise<void> {
    this.#record = { ...this.#record, status: await this.#sandboxes.pause(this.id, options) };
  }

  /** Lets it go on after a pause (POST /v1/sandboxes/{id}/resume). */
  async resume(options?: CallOptions): Promise<void> {
    this.#record = { ...this.#record, status: await this.#sandboxes.resume(this.id, options) };
  }

  /**
   * Starts it after a stop: files and variables are as they were, processes are not (POST /v1/sandboxes/{id}/start). One that
   * runs stays as it is; a paused one is a `ConflictError`.
   */
  async start(options?: CallOptions): Promise<void> {
    this.#record = { ...this.#record, status: await this.#sandboxes.start(this.id, options) };
  }

  /** Ends its processes and keeps its files; its deadline goes on (POST /v1/sandboxes/{id}/stop). */
  async stop(options?: CallOptions): Promise<void> {
    this.#record = { ...this.#record, status: await this.#sandboxes.stop(this.id, options) };
  }

  /**
   * Moves its deadline while it is used from here (calls of any `Sandbox` object of its id) and ends by itself once it was not
   * for `seconds`. A later deadline is not made an earlier one.
   */
  keepAlive(options: KeepAliveOptions = {}): KeepAlive {
    const { activity } = this.#access;
    return KeepAlive.of(
      { ...this.#expiring, activity, extend: (seconds) => this.setTimeout(seconds) },
      options,
    );
  }

  /**
   * Calls back shortly before its deadline, and again before each later one that it is moved to meanwhile, until the function
   * that this returns is called or the client is closed. Never calls where there is no deadline. What the callback throws is an
   * unhandled rejection.
   */
  onExpiring(callback: (sandbox: this) => unknown, options?: ExpiringOptions): () => void {
    return noticeExpiry(this.#expiring, callback, this, options);
  }

  /** Gets a fresh token for its agent; done by itself when needed (POST /v1/sandboxes/{id}/token/refresh). */
  async refreshToken(options?: Pick<CallOptions, "signal">): Promise<Date | undefined> {
    return this.#sandboxes.refreshToken(this.id, options);
  }

  /** Deletes it and everything in it (DELETE /v1/sandboxes/{id}); one that is gone is no error. */
  async delete(options?: CallOptions): Promise<void> {
    await this.#sandboxes.delete(this.id, options);
    this.#record = { ...this.#record, status: "deleted" };
  }

  /** Deletes it, as `delete`, at the end of the scope of `await using`. */
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

  /** Its facts, without any token. */
  toJSON(): SandboxRecord {
    return this.#record;
  }

  /** @internal For `console.log` on Node.js. */
  [inspected](_depth: number, options: object, inspect: Inspect): string {
    return `Sandbox ${inspect(this.toJSON(), options)}`;
  }
}
