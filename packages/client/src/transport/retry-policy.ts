import type { Plane } from "../errors/error-from-response.js";
import { invalidArgument, NetworkError } from "../errors/errors.js";
import { redact } from "../errors/redaction.js";
import { mayBeProxied } from "./undici/machine-proxies.js";

/** When failed calls are retried. A call that might do its work twice is never retried. */
export interface RetryOptions {
  /** Attempts per call, including the first. Default 3; 1 disables retries. */
  attempts?: number | undefined;
  /** Upper limit of the delay before the second attempt, in seconds; doubles with each further attempt. Default 0.2. */
  baseDelaySeconds?: number | undefined;
  /** Upper limit of the delay between two attempts, in seconds. Default 5. */
  maxDelaySeconds?: number | undefined;
  /**
   * The longest wait, in seconds, that a server may ask for (Retry-After); with a longer one the call fails. Default 30.
   */
  maxRetryAfterSeconds?: number | undefined;
}

/** Retry options with defaults filled in. */
export type DecidedRetry = Readonly<Record<keyof RetryOptions, number>>;

export function decidedRetry(options: RetryOptions | false | undefined): DecidedRetry {
  const {
    attempts = 3,
    baseDelaySeconds = 0.2,
    maxDelaySeconds = 5,
    maxRetryAfterSeconds = 30,
  } = options === false ? { attempts: 1 } : (options ?? {});
  const delays = { baseDelaySeconds, maxDelaySeconds, maxRetryAfterSeconds };
  if (!Number.isInteger(attempts) || attempts < 1) {
    throw invalidArgument("retry.attempts must be a whole number from 1.");
  }
  for (const [name, value] of Object.entries(delays)) {
    if (!(value >= 0)) throw invalidArgument(`retry.${name} must be a number of seconds, 0 or more.`);
  }
  return { attempts, ...delays };
}

/**
 * When a call may be retried. `always`: idempotent methods. `refused`: other methods, only if the server said that it did
 * nothing. `unsent`: operations that run code, only if nothing was sent.
 */
export type Repeatable = "always" | "refused" | "unsent";

export type Failure =
  | { kind: "unsent" }
  | { kind: "broken" }
  | { kind: "status"; status: number; retryAfter: number | undefined };

export function repeatable(method: string, operationPath: string): Repeatable {
  if (idempotent.has(method)) return "always";
  return /^\/(execute|commands)(\/|$)/.test(operationPath) ? "unsent" : "refused";
}

export class RetryPolicy {
  readonly #options: DecidedRetry;

  constructor(options: DecidedRetry) {
    this.#options = options;
  }

  /** Seconds until the next attempt; undefined if there must be none. */
  delay(failure: Failure, may: Repeatable, attempt: number): number | undefined {
    if (attempt >= this.#options.attempts || !mayRepeat(failure, may)) return undefined;
    const asked = failure.kind === "status" ? failure.retryAfter : undefined;
    if (asked !== undefined && asked > this.#options.maxRetryAfterSeconds) return undefined;
    const { baseDelaySeconds, maxDelaySeconds } = this.#options;
    const backoff = Math.random() * Math.min(maxDelaySeconds, baseDelaySeconds * 2 ** (attempt - 1));
    // Add jitter: the server may name the same time to many clients, which would then all return together.
    return asked === undefined
      ? backoff
      : asked + Math.random() * Math.min(baseDelaySeconds, maxDelaySeconds);
  }
}

const idempotent = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);
const transientStatus = new Set([408, 429, 500, 502, 503, 504]);

function mayRepeat(failure: Failure, may: Repeatable): boolean {
  if (failure.kind === "unsent") return true;
  if (may === "unsent") return false;
  if (failure.kind === "broken") return may === "always";
  if (failure.status === 429) return true;
  // A 503 with Retry-After is a refusal; without it, the work may have begun.
  if (failure.status === 503 && failure.retryAfter !== undefined) return true;
  return may === "always" && transientStatus.has(failure.status);
}

/** Error codes of failures while connecting: nothing was sent yet. */
const unsentCodes = new Map([
  ["ECONNREFUSED", "nothing listens there"],
  ["ENOTFOUND", "there is no such host"],
  ["EAI_AGAIN", "the name could not be resolved"],
  ["EHOSTUNREACH", "there is no route to the host"],
  ["ENETUNREACH", "there is no route to the network"],
  ["EHOSTDOWN", "the host is down"],
  ["EADDRNOTAVAIL", "the address cannot be used"],
  ["UND_ERR_CONNECT_TIMEOUT", "connecting took too long"],
]);

const unknownAuthority = "its certificate is signed by an authority that this machine does not know";

/** Error codes of TLS failures. Never retried: the server cannot be trusted. */
const untrustedCodes = new Map([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "its certificate is signed by itself"],
  ["SELF_SIGNED_CERT_IN_CHAIN", unknownAuthority],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", unknownAuthority],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", unknownAuthority],
  ["CERT_HAS_EXPIRED", "its certificate has expired"],
  ["CERT_NOT_YET_VALID", "its certificate is not valid yet"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is for another host"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "it does not speak TLS"],
  ["EPROTO", "it does not speak TLS as this machine does"],
]);

interface NetworkFailure {
  error: NetworkError;
  /** What the failure means for a retry; undefined if a retry cannot succeed. */
  failure: Failure | undefined;
}

interface FailedCall {
  origin: string;
  plane: Plane;
  requestId: string;
  /** Whether the call may be repeated even if the server already did the work. */
  harmless: boolean;
  secrets: readonly string[];
}

/** Turns a network error into a typed error that names the cause. */
export function networkFailure(cause: unknown, call: FailedCall): NetworkFailure {
  const code = codeOf(cause);
  const host = call.origin.replace(/^https?:\/\//, "");
  const options = { code, requestId: call.requestId, cause };
  const untrusted = untrustedCodes.get(code);
  if (untrusted !== undefined) {
    const summary = `Cannot reach ${host}: ${untrusted} (${code}).`;
    return { error: new NetworkError({ ...options, summary, hint: mistrust }), failure: undefined };
  }
  const proxy = proxyRefusal(cause);
  const reason = proxy ?? unsentCodes.get(code);
  if (reason !== undefined) {
    const summary = `Cannot reach ${host}: ${reason} (${code}).`;
    const isProxied = proxy !== undefined || mayBeProxied(call.origin);
    const hint = isProxied ? behindProxy : unreachable[call.plane];
    return {
      error: new NetworkError({ ...options, summary, hint, retryable: true }),
      failure: { kind: "unsent" },
    };
  }
  const summary = `The connection to ${host} broke before the answer was complete (${describe(cause, code, call.secrets)}).`;
  return {
    error: new NetworkError({
      ...options,
      summary,
      hint: broken(call.harmless),
      retryable: call.harmless,
      wasSent: true,
    }),
    failure: { kind: "broken" },
  };
}

const mistrust =
  "Check the address and this machine's clock; NODE_EXTRA_CA_CERTS names a file with authorities of your own.";
const behindProxy =
  "Check the address of the proxy in HTTPS_PROXY or HTTP_PROXY, and whether it asks for a name and password " +
  "(http://NAME:PASSWORD@HOST:PORT); NO_PROXY names servers that are reached without it.";

const unreachable: Record<Plane, string> = {
  "control plane":
    "Check CLOUD_SANDBOX_BASE_URL (or the baseUrl option) and the network; a local backend is started with " +
    '"cloud-sandbox-local serve". If only a proxy leads to the network, name it in HTTPS_PROXY.',
  agent: "The sandbox may have ended, or its host is not reachable from here: see client.sandboxes.get(id).",
};

function broken(harmless: boolean): string {
  return harmless
    ? "Try again."
    : "The server may have done its work: look at its effects before trying again.";
}

/** The text for undici's error when a proxy refuses to open a tunnel; undefined for other errors. */
function proxyRefusal(error: unknown): string | undefined {
  for (let depth = 0, at = error; depth < 5 && at instanceof Error; depth++, at = at.cause) {
    const status = /^Proxy response \((\d+)\)/.exec(at.message)?.[1];
    if (status !== undefined) return `the proxy answered ${status} in place of connecting`;
  }
  return undefined;
}

/** The system's error code. `fetch` hides it in the cause of its TypeError. */
function codeOf(error: unknown): string {
  for (let depth = 0, at = error; depth < 5 && at instanceof Error; depth++, at = at.cause) {
    if ("code" in at && typeof at.code === "string") return at.code;
  }
  return "NETWORK_ERROR";
}

function describe(error: unknown, code: string, secrets: readonly string[]): string {
  const text = error instanceof Error ? redact(error.message, secrets) : "";
  return text === "" || text === code ? code : `${code}: ${text}`;
}
