import type { Plane } from "../../errors/error-from-response.js";
import { NetworkError } from "../../errors/errors.js";
import { redact } from "../../errors/redaction.js";
import { mayBeProxied } from "../undici/machine-proxies.js";
import type { Failure } from "./retry-policy.js";

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

export interface NetworkFailure {
  error: NetworkError;
  /** What the failure means for a retry; undefined if a retry cannot succeed. */
  failure: Failure | undefined;
}

export interface FailedCall {
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
