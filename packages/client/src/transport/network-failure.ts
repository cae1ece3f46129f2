import type { Plane } from "../error-from-response.js";
import { NetworkError } from "../errors.js";
import { redact } from "../redaction.js";

/** Codes of failures that happen while a connection is made: nothing was sent yet. */
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

export interface NetworkFailure {
  error: NetworkError;
  /** Whether it is certain that the server saw nothing of the request. */
  unsent: boolean;
}

export interface FailedCall {
  origin: string;
  plane: Plane;
  requestId: string;
  /** Whether repeating the call is harmless even if the server did its work. */
  harmless: boolean;
  secrets: readonly string[];
}

/** Names what went wrong below HTTP. */
export function networkFailure(cause: unknown, call: FailedCall): NetworkFailure {
  const code = codeOf(cause);
  const reason = unsentCodes.get(code);
  const host = call.origin.replace(/^https?:\/\//, "");
  const summary =
    reason === undefined
      ? `The connection to ${host} broke before the answer was complete (${describe(cause, code, call.secrets)}).`
      : `Cannot reach ${host}: ${reason} (${code}).`;
  const unsent = reason !== undefined;
  const error = new NetworkError({
    summary,
    hint: unsent ? unreachable[call.plane] : broken(call.harmless),
    code,
    requestId: call.requestId,
    retryable: unsent || call.harmless,
    cause,
  });
  return { error, unsent };
}

const unreachable: Record<Plane, string> = {
  "control plane":
    "Check CLOUD_SANDBOX_BASE_URL (or the baseUrl option) and the network; a local backend is started with " +
    '"npx cloud-sandbox-local serve".',
  agent:
    "The sandbox may have ended, or its host is not reachable from here; client.sandboxes.get(id) tells.",
};

function broken(harmless: boolean): string {
  return harmless
    ? "Try again."
    : "The server may have done its work; look at the result of it before trying again.";
}

/** The system's code, which fetch hides in the cause of its TypeError. */
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
