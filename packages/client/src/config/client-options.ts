import { ConfigurationError, invalidArgument } from "../errors/errors.js";
import type { Account } from "../transport/account.js";
import type { Fetch } from "../transport/http/fetch-transport.js";
import type { Hooks } from "../transport/observation/hooks.js";
import { type Logger, type LogLevel, leveled, logLevels } from "../transport/observation/logger.js";
import type { TraceContext } from "../transport/observation/trace-context.js";
import { propagation, type Tracing } from "../transport/observation/tracing.js";
import { onNode } from "../transport/on-node.js";
import type { RetryOptions } from "../transport/retry/retry-options.js";
import type { OpenWebSocket } from "../transport/sockets/sockets.js";
import type { Isolation } from "./isolation.js";
import { checkKnown, type OptionNames } from "./known-options.js";
import { checkBoolean, checkFunction, checkOneOf, checkSeconds } from "./option-checks.js";
import { lifetime as checkedLifetime, runningTimeout } from "./time-limits.js";

/**
 * What a client is made with. All of it is checked when it is made: what cannot work is a
 * `ConfigurationError` or a `ValidationError`.
 */
export interface SandboxClientOptions {
  /**
   * Where sandboxes run. `local` is this machine: Linux, with the package `cloud-sandbox-local` and Node.js; its control plane is
   * started with the first call, and ended with the client. Default: `cloud` where `apiKey`, `bearerToken` or `baseUrl` is given,
   * else CLOUD_SANDBOX_BACKEND, else `cloud` where the environment names a key or an address, else `local`.
   */
  backend?: Backend | undefined;
  /** How it is started on this machine. Default: as {@link LocalBackendOptions} says. */
  local?: LocalBackendOptions | undefined;
  /** The account's key. Default: CLOUD_SANDBOX_API_KEY, else HOPX_API_KEY. It is sent to `baseUrl` only. */
  apiKey?: string | undefined;
  /** Sent as `Authorization: Bearer` beside the key. Default: CLOUD_SANDBOX_BEARER_TOKEN, else HOPX_BEARER_TOKEN. */
  bearerToken?: string | undefined;
  /** The control plane. Default: CLOUD_SANDBOX_BASE_URL, else HOPX_BASE_URL, else https://api.hopx.dev. */
  baseUrl?: string | undefined;
  /** Carries the requests in place of the built-in transport: for edge runtimes, proxies, tests. */
  fetch?: Fetch | undefined;
  /**
   * Opens the WebSockets of streams, terminals and watches in place of the built-in ones. Needed where the runtime's own
   * cannot send headers, as in browsers and some edge runtimes.
   */
  webSocket?: OpenWebSocket | undefined;
  /** When calls are made again; `false` is never. See {@link RetryOptions}. */
  retry?: RetryOptions | false | undefined;
  /** The four time limits. See {@link Timeouts}. */
  timeouts?: Timeouts | undefined;
  /** Called as requests are sent, answered, repeated and failed. See {@link Hooks}. */
  hooks?: Hooks | undefined;
  /** Where a log is written: `console`, pino, or any {@link Logger}. Default: nowhere. No secret is ever in it. */
  logger?: Logger | undefined;
  /**
   * The least that is logged. Default `info`: `error` for calls that failed by the network, the server or a time limit, `warn` for
   * repetitions and for what could not be deleted, `info` for what a server refused, `debug` for every request and answer.
   */
  logLevel?: LogLevel | undefined;
  /**
   * Gives the trace that a call belongs to. It is asked before each try; servers get it as `traceparent` and `tracestate`, the
   * control plane and the agents alone. One that is malformed is not sent.
   */
  traceContext?: (() => TraceContext | undefined) | undefined;
  /** Makes spans, and propagates them, in place of `traceContext`: `openTelemetry()` of `cloud-sandbox/opentelemetry`. */
  tracing?: Tracing | undefined;
  /**
   * Whether sandboxes that this client created are deleted when SIGINT or SIGTERM ends the process (Node.js, Bun, Deno).
   * Default true. The process takes at most 5 s longer for it and dies of the same signal. Nothing happens when the program
   * listens to the signal itself (it may call `sandboxes.deleteCreated()`), calls `process.exit()`, crashes, or is killed by
   * SIGKILL: the sandbox's own lifetime ends it then.
   */
  deleteOnSignal?: boolean | undefined;
}

/** How sandboxes are made on this machine, where a client starts the backend itself. */
export interface LocalBackendOptions {
  /** Sandboxes kept booted for those to come, about 45 MB each, most of it shared. Default 1. */
  pool?: number;
  /** What each sandbox may use. Default: 1024 MiB of memory and of disk, 2 CPUs (or all there are), 256 processes. */
  limits?: { memoryMb?: number; diskMb?: number; vcpu?: number; maxProcesses?: number };
  /** Internet access of sandboxes that are made without `internetAccess`: `on`, `off`, or `allow=` and destinations with commas between them. Default: CLOUD_SANDBOX_INTERNET, else `on`. */
  internet?: string;
  /** Told once it has started. */
  onReady?: (backend: StartedBackend) => void;
}

/** A backend on this machine, which ends with its client. */
export interface StartedBackend {
  /** Where it listens, on loopback. */
  readonly url: string;
  /** What starts its sandboxes. */
  readonly runtime: string;
  readonly isolation: Isolation;
  /** Internet access of sandboxes that are made without `internetAccess`. */
  readonly internet: string;
}

/** The four time limits, in seconds. */
export interface Timeouts {
  /** How long a new sandbox lives (`timeoutSeconds` of create). Default: what the server gives. */
  lifetimeSeconds?: number | undefined;
  /** How long code and commands may run (`timeoutSeconds` of execute and run), 1 to 300. Default 30. */
  executionSeconds?: number | undefined;
  /**
   * How long a call may wait for its answer, repetitions included. Default 60. A call that runs code waits 30 s
   * beyond its execution limit instead.
   */
  requestSeconds?: number | undefined;
  /**
   * How long a stream may stay silent. Default 60. A WebSocket is asked for a sign of life, so that a program may print
   * nothing for longer.
   */
  idleSeconds?: number | undefined;
}

/** Where sandboxes run: behind a HOPX-compatible API, or on this machine. */
export type Backend = "cloud" | "local";

const backends: readonly Backend[] = ["cloud", "local"];

/** Options with everything decided. */
export interface Settings {
  /** Undefined where this machine is meant. */
  account: Account | undefined;
  fetch: Fetch | undefined;
  webSocket: OpenWebSocket | undefined;
  retry: RetryOptions | false | undefined;
  timeouts: { lifetime: number | undefined; execution: number; request: number; idle: number };
  hooks: Hooks;
  log: Logger | undefined;
  tracing: Tracing | undefined;
  deleteOnSignal: boolean;
}

/** An option wins over the environment. Throws {@link ConfigurationError} for what cannot work. */
export function settingsFrom(options: SandboxClientOptions): Settings {
  checkKnown("SandboxClient", options, clientOptionNames);
  checkKnown("timeouts", options.timeouts, timeoutNames);
  checkKnown("hooks", options.hooks, hookNames);
  if (options.retry !== false) checkKnown("retry", options.retry, retryNames);
  const account = accountOf(options);
  const {
    lifetimeSeconds: lifetime,
    executionSeconds: execution = 30,
    requestSeconds: request = 60,
    idleSeconds: idle = 60,
  } = options.timeouts ?? {};
  for (const [name, seconds] of Object.entries({ lifetime, execution, request, idle })) {
    checkSeconds(`timeouts.${name}Seconds`, seconds);
  }
  runningTimeout(execution, "timeouts.executionSeconds");
  if (lifetime !== undefined) checkedLifetime(lifetime, "timeouts.lifetimeSeconds");
  checkFunction("fetch", options.fetch);
  checkFunction("webSocket", options.webSocket);
  checkBoolean("deleteOnSignal", options.deleteOnSignal);
  return {
    account,
    fetch: options.fetch,
    webSocket: options.webSocket,
    retry: options.retry,
    timeouts: { lifetime, execution, request, idle },
    hooks: checkedHooks(options.hooks),
    log: logFrom(options),
    tracing: tracingFrom(options),
    deleteOnSignal: options.deleteOnSignal ?? true,
  };
}

function accountOf(options: SandboxClientOptions): Account | undefined {
  const { apiKey: key, baseUrl: url, bearerToken: token } = options;
  const named = url ?? fromEnvironment("BASE_URL");
  const asked = options.backend ?? (key || token || url ? "cloud" : setting("CLOUD_SANDBOX_BACKEND")?.trim());
  if (asked && !backends.some((backend) => backend === asked)) {
    throw new ConfigurationError({
      summary: "CLOUD_SANDBOX_BACKEND (or the backend option) must be cloud or local.",
      hint: "Correct it, or leave it out: with an API key it is cloud.",
      code: "BACKEND_INVALID",
    });
  }
  const account = {
    apiKey: credential("API key", key, "API_KEY"),
    bearerToken: credential("bearer token", token, "BEARER_TOKEN"),
    baseUrl: serverUrl(named ?? "https://api.hopx.dev"),
  };
  const hasKey = (account.apiKey ?? account.bearerToken) !== undefined;
  const isLocal = asked === "local" || (!asked && !hasKey && named === undefined);
  if (isLocal && onNode()) return undefined;
  if (hasKey && !isLocal) return account;
  throw new ConfigurationError({
    summary: isLocal ? "Sandboxes on this machine need Node.js." : "There is no API key.",
    hint: "Set CLOUD_SANDBOX_API_KEY (or HOPX_API_KEY), or give the apiKey option; on Node.js, CLOUD_SANDBOX_BACKEND=local needs none.",
    code: "API_KEY_MISSING",
  });
}

const clientOptionNames: OptionNames<SandboxClientOptions> = {
  backend: true,
  local: true,
  apiKey: true,
  bearerToken: true,
  baseUrl: true,
  fetch: true,
  webSocket: true,
  retry: true,
  timeouts: true,
  hooks: true,
  logger: true,
  logLevel: true,
  traceContext: true,
  tracing: true,
  deleteOnSignal: true,
};
const timeoutNames: OptionNames<Timeouts> = {
  lifetimeSeconds: true,
  executionSeconds: true,
  requestSeconds: true,
  idleSeconds: true,
};
const retryNames: OptionNames<RetryOptions> = {
  attempts: true,
  baseDelaySeconds: true,
  maxDelaySeconds: true,
  maxRetryAfterSeconds: true,
};
const hookNames: OptionNames<Hooks> = {
  onRequest: true,
  onResponse: true,
  onRetry: true,
  onError: true,
  onWarning: true,
};

function checkedHooks(hooks: Hooks = {}): Hooks {
  for (const [name, hook] of Object.entries(hooks)) checkFunction(`hooks.${name}`, hook);
  return hooks;
}

function logFrom({ logger, logLevel = "info" }: SandboxClientOptions): Logger | undefined {
  checkOneOf("logLevel", logLevel, logLevels);
  if (logger === undefined) return undefined;
  if (!logLevels.every((level) => typeof logger[level] === "function"))
    throw invalidArgument(`logger must have the methods ${logLevels.join(", ")}, as console has.`);
  return leveled(logger, logLevel);
}

function tracingFrom({ traceContext, tracing }: SandboxClientOptions): Tracing | undefined {
  checkFunction("traceContext", traceContext);
  checkFunction("tracing.begin", tracing?.begin);
  if (traceContext === undefined) return tracing;
  if (tracing !== undefined)
    throw invalidArgument(
      "Both traceContext and tracing are given.",
      "Give one: tracing propagates its spans.",
    );
  return propagation(traceContext);
}

function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAddress = url !== undefined && /^https?:$/.test(url.protocol);
  if (isAddress && url.username === "" && url.password === "") {
    // The paths of the operations begin with it.
    url.pathname = url.pathname.replace(/\/v1\/*$/, "/");
    return url;
  }
  throw new ConfigurationError({
    summary: isAddress
      ? "The base URL must not contain a user name or password."
      : "The base URL is not an http(s) address.",
    hint: 'Set CLOUD_SANDBOX_BASE_URL (or the baseUrl option) to something like "https://api.hopx.dev".',
    code: "BASE_URL_INVALID",
  });
}

/** Keys are often read from files, with the line's end. */
function credential(what: string, option: string | undefined, suffix: string): string | undefined {
  if (option !== undefined && typeof option !== "string")
    throw invalidArgument(`The option for the ${what} must be text.`);
  const value = (option ?? fromEnvironment(suffix) ?? "").trim();
  if (value === "") return undefined;
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new ConfigurationError({
    summary: `The ${what} holds characters that no key has.`,
    hint: `Look at CLOUD_SANDBOX_${suffix} (or HOPX_${suffix}), or at the option: it must be the ${what} alone.`,
    code: "CREDENTIAL_INVALID",
  });
}

function fromEnvironment(suffix: string): string | undefined {
  return setting(`CLOUD_SANDBOX_${suffix}`) ?? setting(`HOPX_${suffix}`);
}

/** Some runtimes have no `process`. */
function setting(name: string): string | undefined {
  return globalThis.process?.env?.[name] || undefined;
}
