/** Turns an error of a call into the text that the model reads: what happened, and what to do next. */
import {
  ApiError,
  AuthenticationError,
  ConfigurationError,
  ConflictError,
  isSandboxError,
  RateLimitError,
  type SandboxError,
  ServerError,
  TimeoutError,
} from "cloud-sandbox";
import type { Environment } from "../settings.js";
import { BackendError, InvalidArgumentsError, ServerFailure } from "./errors.js";
import { type FailureAdvice, generalSteps } from "./failure-advice.js";

/** Undefined for an error in this program, about which the model can do nothing. */
export function explainFailure(
  error: unknown,
  advice: FailureAdvice,
  environment: Environment,
): string | undefined {
  if (isExplained(error)) return error.message;
  if (!isSandboxError(error)) return undefined;
  const known = advice.steps[error.code];
  // If this server has advice for the error, keep only the first sentence of the service's message: the rest advises
  // operations, which the model cannot call.
  const isAdvised = known !== undefined || advised.has(error.name);
  const serverHint = isAdvised || !(error instanceof ApiError) ? undefined : error.serverHint;
  const happened = withToolNames([error.summary, serverHint].filter(Boolean).join(" "), advice);
  if (hinted.has(error.code)) return [error.summary, error.hint, known].filter(Boolean).join(" ");
  const left = error.cleanupError === undefined ? "" : advice.leftBehind;
  return [closed(happened), known ?? stepOfKind(error, advice, environment), left].filter(Boolean).join(" ");
}

/** Whether the error's message already says what to do. */
function isExplained(error: unknown): error is Error {
  return (
    error instanceof InvalidArgumentsError || error instanceof BackendError || error instanceof ServerFailure
  );
}

/** Errors for which this server's advice always replaces the service's. */
const advised: ReadonlySet<string> = new Set(["AuthenticationError", "SandboxExpiredError"]);

/** Codes of errors whose own hint is kept, because it lists what exists. */
const hinted: ReadonlySet<string> = new Set(["IMAGE_UNAVAILABLE", "PACKAGES_NOT_INSTALLED"]);

/**
 * Replaces names of the service's operations and of the client's methods by names of tools, because the model knows
 * only the tools.
 */
function withToolNames(text: string, { terms = [] }: FailureAdvice): string {
  return terms.reduce((replaced, [wire, tool]) => replaced.replace(wire, tool), text);
}

export const unforeseen = "The tool failed for an unknown reason. Call it again, or use another sandbox.";

function stepOfKind(error: SandboxError, advice: FailureAdvice, environment: Environment): string {
  const { steps, otherwise } = advice;
  if (error instanceof RateLimitError)
    return `Wait ${Math.ceil(error.retryAfterSeconds ?? 10)} seconds, then call again.`;
  if (error instanceof ServerError) {
    return `Call again in a few seconds; to report it, give request id ${error.requestId ?? "unknown"}.`;
  }
  if (error instanceof TimeoutError && error.kind === "execution")
    return steps.EXECUTION_TIMEOUT ?? otherwise;
  if (error instanceof AuthenticationError && error.code.includes("TOKEN"))
    return steps.TOKEN_REFUSED ?? otherwise;
  if (error instanceof ConfigurationError) return `${error.hint ?? ""} The user must do this.`.trimStart();
  if (error instanceof ConflictError && /\btemplate\b/i.test(error.summary))
    return steps.TEMPLATE_CONFLICT ?? otherwise;
  // The service does not have this feature, so correcting the argument cannot help.
  if (error.name === "ValidationError" && /_(UNAVAILABLE|NOT_AVAILABLE)$/.test(error.code)) return otherwise;
  return steps[error.name] ?? generalSteps(environment)[error.name] ?? otherwise;
}

function closed(text: string): string {
  return /[.!?]$/.test(text.trimEnd()) ? text.trimEnd() : `${text.trimEnd()}.`;
}
