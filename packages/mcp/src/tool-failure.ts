/** Turns whatever a call threw into what the model reads: what happened, and which step comes next. */
import { type ApiError, isSandboxError, type SandboxError } from "cloud-sandbox";
import { InvalidArgumentsError } from "./arguments.js";
import { BackendError } from "./backend.js";

export function explainFailure(error: unknown): string {
  if (error instanceof InvalidArgumentsError || error instanceof BackendError) return error.message;
  if (!isSandboxError(error)) {
    return "The tool failed for a reason it does not know. Call it again; if that fails too, use another sandbox.";
  }
  const left = error.cleanupError === undefined ? "" : ` ${leftBehind}`;
  return `${sentence(error.summary)} ${nextStep(error)}${left}`;
}

const leftBehind = "Its sandbox could not be deleted; list_sandboxes shows it, delete_sandbox removes it.";

/** The code decides; where it says nothing special, the class does. */
function nextStep(error: SandboxError): string {
  return stepOfCode[error.code] ?? stepOfClass[error.name]?.(error) ?? error.hint ?? again;
}

const again = "Call the tool again; if it goes on failing, create another sandbox with create_sandbox.";
const correct = "Correct the argument and call the tool again.";
const look = "file_list of the directory shows what is there.";
const findSandbox = "list_sandboxes shows the sandboxes that exist; create_sandbox makes one.";
const freeSomething = "Free what is no longer needed, for example with delete_sandbox, and call again.";

const stepOfCode: Readonly<Record<string, string>> = {
  SANDBOX_NOT_FOUND: findSandbox,
  SANDBOX_PAUSED: "Wake it with resume_sandbox, then call again.",
  SANDBOX_CREATING: "It is still starting; call again in a few seconds.",
  TEMPLATE_NOT_FOUND: "list_templates shows the templates that exist.",
  FILE_NOT_FOUND: look,
  DIRECTORY_NOT_FOUND: look,
  PATH_NOT_ALLOWED: "Use an absolute path under /workspace or /tmp.",
  INVALID_PATH: "Use an absolute path under /workspace or /tmp.",
  LANGUAGE_NOT_AVAILABLE: "get_template names the languages that a template has.",
  INTERNET_ACCESS_UNAVAILABLE: "Call create_sandbox without internet_access.",
  RESOURCE_LIMIT_ERROR: freeSomething,
  RESOURCE_EXHAUSTED:
    "Stop what is running in the sandbox or delete files, or use a new one from create_sandbox.",
  DISK_FULL: "Delete files with file_remove, or use a new sandbox from create_sandbox.",
  EXECUTION_INTERRUPTED: "Look at the files with file_list before running it again; use less memory.",
};

const stepOfClass: Readonly<Record<string, (error: SandboxError) => string>> = {
  AbortError: () => "Call the tool again when it is wanted.",
  AuthenticationError: (error) =>
    error.code.includes("TOKEN")
      ? "get_sandbox shows whether the sandbox still exists; create_sandbox makes a new one."
      : "The user must correct CLOUD_SANDBOX_API_KEY in this server's configuration, or remove it to run sandboxes on this machine.",
  ConfigurationError: (error) => `${error.hint ?? ""} It is set in this server's configuration.`.trimStart(),
  ConflictError: () => "get_sandbox shows its present state.",
  NetworkError: () =>
    "Call again in a moment; if it still fails, the user must check the network and CLOUD_SANDBOX_BASE_URL, or set CLOUD_SANDBOX_BACKEND=local to run sandboxes on this machine.",
  PermissionDeniedError: () =>
    "Use something this account may use; list_sandboxes and list_templates show it.",
  RateLimitError: (error) => `Wait ${Math.ceil(retryAfter(error) ?? 10)} seconds, then call again.`,
  ResourceLimitError: () => freeSomething,
  SandboxExpiredError: () => "Create another with create_sandbox, or use execute_code_isolated.",
  ServerError: (error) =>
    `Call again in a few seconds; when reporting it, give request id ${error.requestId ?? "unknown"}.`,
  TimeoutError: () => "Give a larger timeout (at most 300 seconds), or do less in one call.",
  ValidationError: () => correct,
};

function retryAfter(error: SandboxError): number | undefined {
  return "retryAfter" in error ? (error as ApiError).retryAfter : undefined;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text.trimEnd()) ? text.trimEnd() : `${text.trimEnd()}.`;
}
