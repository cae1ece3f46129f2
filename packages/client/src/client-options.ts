import { ConfigurationError, invalidArgument } from "./errors.js";
import { type Logger, type LogLevel, leveled, logLevels } from "./logger.js";
import { checkBoolean, checkFunction, checkOneOf, checkSeconds } from "./option-checks.js";
import { runningTimeout } from "./running-options.js";
import { lifetime as checkedLifetime } from "./sandbox-creation.js";
import type { TraceContext } from "./trace-context.js";
import { propagation, type Tracing } from "./tracing.js";
import type { Fetch } from "./transport/fetch-transport.js";
import type { Hooks } from "./transport/hooks.js";
import type { RetryOptions } from "./transport/retry-options.js";
import type { OpenWebSocket } from "./transport/sockets.js";

/**
 * What a client is made with. All of it is checked when it is made: what cannot work is a
 * `ConfigurationError` or a `ValidationError`.
 */
export interface SandboxClientOptions {
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

/** The four time limits, in seconds. */
export interface Timeouts {
  /** How long a new sandbox lives (`timeoutSeconds` of create). Default: what the server gives. */
  lifetime?: number | undefined;
  /** How long code and commands may run (`timeout` of execute and run), 1 to 300. Default 30. */
  execution?: number | undefined;
  /**
   * How long a call may wait for its answer, repetitions included. Default 60. A call that runs code waits 30 s
   * beyond its execution limit instead.
   */
  request?: number | undefined;
  /**
   * How long a stream may stay silent. Default 60. A WebSocket is asked for a sign of life, so that a program may print
   * nothing for longer.
   */
  idle?: number | undefined;
}

/** Options with everything decided. */
export interface Settings {
  apiKey: string | undefined;
  bearerToken: string | undefined;
  baseUrl: URL;
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
  const apiKey = credential("API key", options.apiKey, "API_KEY");
  const bearerToken = credential("bearer token", options.bearerToken, "BEARER_TOKEN");
  if (apiKey === undefined && bearerToken === undefined) {
    throw new ConfigurationError({
      summary: "There is no API key.",
      hint:
        "Set CLOUD_SANDBOX_API_KEY (or HOPX_API_KEY), or give the apiKey option. Without an account, start a local " +
        'backend with "npx cloud-sandbox-local serve" and use the URL and key it prints.',
      code: "API_KEY_MISSING",
    });
  }
  const { lifetime, execution = 30, request = 60, idle = 60 } = options.timeouts ?? {};
  for (const [name, seconds] of Object.entries({ lifetime, execution, request, idle })) {
    checkSeconds(`timeouts.${name}`, seconds);
  }
  runningTimeout(execution, "timeouts.execution");
  if (lifetime !== undefined) checkedLifetime(lifetime, "timeouts.lifetime");
  checkFunction("fetch", options.fetch);
  checkFunction("webSocket", options.webSocket);
  checkBoolean("deleteOnSignal", options.deleteOnSignal);
  return {
    apiKey,
    bearerToken,
    baseUrl: serverUrl(options.baseUrl ?? fromEnvironment("BASE_URL") ?? "https://api.hopx.dev"),
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

const hookNames = ["onRequest", "onResponse", "onRetry", "onError", "onWarning"] as const;

function checkedHooks(hooks: Hooks = {}): Hooks {
  for (const name of hookNames) checkFunction(`hooks.${name}`, hooks[name]);
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

/** Some runtimes have no `process`. */
function fromEnvironment(suffix: string): string | undefined {
  const environment = globalThis.process?.env;
  return environment?.[`CLOUD_SANDBOX_${suffix}`] || environment?.[`HOPX_${suffix}`] || undefined;
}
