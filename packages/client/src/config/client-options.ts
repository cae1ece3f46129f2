import { ConfigurationError, invalidArgument } from "../errors/errors.js";
import type { Account } from "../transport/contract-clients.js";
import type { Fetch } from "../transport/http/fetch-transport.js";
import {
  type Hooks,
  type Logger,
  type LogLevel,
  leveled,
  logLevels,
  propagation,
  type TraceContext,
  type Tracing,
} from "../transport/observer.js";
import { onNode } from "../transport/on-node.js";
import type { RetryOptions } from "../transport/retry-policy.js";
import type { OpenWebSocket } from "../transport/sockets/sockets.js";
import type { Isolation } from "./isolation.js";
import {
  checkBoolean,
  lifetime as checkedLifetime,
  checkFunction,
  checkKnown,
  checkOneOf,
  checkSeconds,
  type OptionNames,
  runningTimeout,
} from "./options.js";

/**
 * Options of a `SandboxClient`. All are checked in the constructor, which throws a `ConfigurationError` or a
 * `ValidationError`.
 */
export interface SandboxClientOptions {
  /**
   * Where sandboxes run. `local` is this machine, and needs Linux or, on macOS, Docker, Node.js and the package `cloud-sandbox-local`; the
   * first call starts the control plane, closing the client ends it. Default: `cloud` if `apiKey`, `bearerToken` or
   * `baseUrl` is given, else CLOUD_SANDBOX_BACKEND, else `cloud` if an environment variable sets a key or an address,
   * else `local`.
   */
  backend?: Backend | undefined;
  /** Options of the local backend. Defaults: see {@link LocalBackendOptions}. */
  local?: LocalBackendOptions | undefined;
  /** API key of the account. Default: CLOUD_SANDBOX_API_KEY, else HOPX_API_KEY. Sent to `baseUrl` only. */
  apiKey?: string | undefined;
  /**
   * Token sent as `Authorization: Bearer`, in addition to the key. Default: CLOUD_SANDBOX_BEARER_TOKEN, else
   * HOPX_BEARER_TOKEN.
   */
  bearerToken?: string | undefined;
  /** Address of the control plane. Default: CLOUD_SANDBOX_BASE_URL, else HOPX_BASE_URL, else https://api.hopx.dev. */
  baseUrl?: string | undefined;
  /** A `fetch` that replaces the built-in transport: for edge runtimes, proxies, tests. */
  fetch?: Fetch | undefined;
  /**
   * Opens WebSockets (streams, terminals, watches) in place of the built-in ones. Required in runtimes whose own
   * WebSocket cannot send headers, such as browsers and some edge runtimes.
   */
  webSocket?: OpenWebSocket | undefined;
  /** When failed calls are retried; `false` disables retries. See {@link RetryOptions}. */
  retry?: RetryOptions | false | undefined;
  /** The four time limits. See {@link Timeouts}. */
  timeouts?: Timeouts | undefined;
  /** Called when requests are sent, answered, retried and failed. See {@link Hooks}. */
  hooks?: Hooks | undefined;
  /** Where to write a log: `console`, pino, or any {@link Logger}. Default: no log. It never contains secrets. */
  logger?: Logger | undefined;
  /**
   * The lowest level to log. Default `info`. `error`: calls that failed because of the network, the server or a time
   * limit. `warn`: retries, and failed cleanup. `info`: calls that the server refused. `debug`: every request and answer.
   */
  logLevel?: LogLevel | undefined;
  /**
   * Returns the trace that a call belongs to; called before each attempt. It is sent as `traceparent` and `tracestate`,
   * only to the control plane and agents. A malformed trace context is not sent.
   */
  traceContext?: (() => TraceContext | undefined) | undefined;
  /** Creates and propagates spans; replaces `traceContext`. See `openTelemetry()` of `cloud-sandbox/opentelemetry`. */
  tracing?: Tracing | undefined;
  /**
   * Whether to delete the sandboxes that this client created when SIGINT or SIGTERM ends the process (Node.js, Bun,
   * Deno). Default true. Delays the end of the process by at most 5 s; the process still dies of the same signal. Does
   * nothing if the program listens to the signal itself (it may call `sandboxes.deleteCreated()`), calls
   * `process.exit()`, crashes, or is killed by SIGKILL: a sandbox then lives until its lifetime ends.
   */
  deleteOnSignal?: boolean | undefined;
}

/** Options of the backend that a client starts on this machine. */
export interface LocalBackendOptions {
  /** Number of sandboxes kept booted in advance, about 45 MB of memory each, most of it shared. Default: CLOUD_SANDBOX_POOL, else 1. */
  pool?: number;
  /** Limits of each sandbox. Default: 1024 MiB of memory, 1024 MiB of disk, 2 CPUs (or all there are), 256 processes. */
  limits?: { memoryMb?: number; diskMb?: number; vcpu?: number; maxProcesses?: number };
  /**
   * Internet access of sandboxes created without `internetAccess`: `on`, `off`, or `allow=` with a comma-separated list
   * of destinations. Default: CLOUD_SANDBOX_INTERNET, else `on`.
   */
  internet?: string;
  /**
   * Directory that keeps templates and stopped sandboxes for the next program. One program at a time may use it. Default:
   * nothing is kept.
   */
  dataDir?: string;
  /** Directories of this machine that sandboxes may mount, and all below them. Default: those of CLOUD_SANDBOX_ALLOW_MOUNT, else none. */
  allowMounts?: readonly string[];
  /** Called with each line of the backend's log. An error with the code `INTERNAL_ERROR` has its cause only there. */
  log?: (line: string) => void;
  /** Called when the backend has started. */
  onReady?: (backend: StartedBackend) => void;
}

/** A running local backend. It ends with its client. */
export interface StartedBackend {
  /** URL that the backend listens on, on the loopback interface. */
  readonly url: string;
  /** The runtime that starts the sandboxes. */
  readonly runtime: string;
  readonly isolation: Isolation;
  /** Internet access of sandboxes created without `internetAccess`. */
  readonly internet: string;
}

/** The four time limits, in seconds. */
export interface Timeouts {
  /** Lifetime of a new sandbox, if `create` is given no `timeoutSeconds`. Default: the server's. */
  lifetimeSeconds?: number | undefined;
  /** Time limit of code and commands, 1 to 300, if the call is given no `timeoutSeconds`. Default 30. */
  executionSeconds?: number | undefined;
  /**
   * How long a call waits for its answer, retries included. Default 60. A call that runs code instead waits 30 s longer
   * than the code's time limit.
   */
  requestSeconds?: number | undefined;
  /** How long a stream may be silent. Default 60. WebSockets are pinged, so a program may print nothing for longer. */
  idleSeconds?: number | undefined;
}

/** Where sandboxes run: behind a HOPX-compatible API, or on this machine. */
export type Backend = "cloud" | "local";

const backends: readonly Backend[] = ["cloud", "local"];

/** Checked options, with defaults filled in. */
export interface Settings {
  /** Account of the control plane; undefined for the local backend. */
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

/**
 * Checks the options and fills in defaults; an option overrides the environment. Throws {@link ConfigurationError} or
 * `ValidationError` for invalid values.
 */
export function settingsFrom(options: SandboxClientOptions): Settings {
  checkKnown("SandboxClient", options, clientOptionNames);
  checkKnown("timeouts", options.timeouts, timeoutNames);
  checkKnown("hooks", options.hooks, hookNames);
  checkKnown("local", options.local, localNames);
  checkKnown("local.limits", options.local?.limits, limitNames);
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
      hint: "Correct the backend, or leave it out: with an API key, the backend is cloud.",
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
const localNames: OptionNames<LocalBackendOptions> = {
  pool: true,
  limits: true,
  internet: true,
  dataDir: true,
  allowMounts: true,
  log: true,
  onReady: true,
};
const limitNames: OptionNames<NonNullable<LocalBackendOptions["limits"]>> = {
  memoryMb: true,
  diskMb: true,
  vcpu: true,
  maxProcesses: true,
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
    // Cut off `/v1`: the operations' paths already begin with it.
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

/**
 * Reads a credential from the option or the environment. Trims it, because a key read from a file often ends with a
 * newline.
 */
function credential(what: string, option: string | undefined, suffix: string): string | undefined {
  if (option !== undefined && typeof option !== "string")
    throw invalidArgument(`The option for the ${what} must be text.`);
  const value = (option ?? fromEnvironment(suffix) ?? "").trim();
  if (value === "") return undefined;
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new ConfigurationError({
    summary: `The ${what} contains invalid characters.`,
    hint: `Check CLOUD_SANDBOX_${suffix} (or HOPX_${suffix}), or the option: it must be the ${what} and nothing else.`,
    code: "CREDENTIAL_INVALID",
  });
}

function fromEnvironment(suffix: string): string | undefined {
  return setting(`CLOUD_SANDBOX_${suffix}`) ?? setting(`HOPX_${suffix}`);
}

/** Reads an environment variable. Checks for `process`, which some runtimes do not have. */
function setting(name: string): string | undefined {
  return globalThis.process?.env?.[name] || undefined;
}
