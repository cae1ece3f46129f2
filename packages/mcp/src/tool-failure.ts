/** Turns whatever a call threw into what the model reads: what happened, and which step comes next. */
import {
  AuthenticationError,
  ConfigurationError,
  isSandboxError,
  RateLimitError,
  type SandboxError,
  ServerError,
  TimeoutError,
} from "cloud-sandbox";
import { InvalidArgumentsError } from "./arguments.js";
import { BackendError } from "./backend.js";

/** Undefined for what nobody foresaw: an error of this program, which the model can do nothing about. */
export function explainFailure(error: unknown): string | undefined {
  if (error instanceof InvalidArgumentsError || error instanceof BackendError) return error.message;
  if (!isSandboxError(error)) return undefined;
  const known = stepOfCode[error.code];
  // Where the step is known by its tool, the server's advice in its own terms would only be in the way.
  const isAdvised = known !== undefined || advised.has(error.name);
  const happened = inToolTerms(isAdvised ? firstSentence(error.summary) : error.summary);
  const left = error.cleanupError === undefined ? "" : ` ${leftBehind}`;
  return `${closed(happened)} ${known ?? stepOfKind(error)}${left}`;
}

/** Kinds of error for which our step says all that a server would. */
const advised: ReadonlySet<string> = new Set(["AuthenticationError", "SandboxExpiredError"]);

/** Servers speak of their operations, and the client of its methods; a model has only the tools. */
function inToolTerms(text: string): string {
  return toolTerms.reduce((told, [wire, tool]) => told.replace(wire, tool), text);
}

const toolTerms: ReadonlyArray<readonly [wire: RegExp, tool: string]> = [
  [/\/files\/mkdir\b|\bfiles\.mkdir\(\)/g, "file_mkdir"],
  [/\/files\/download\b|\bfiles\.readBytes\(\)/g, "run_command with base64"],
  [/\bworkdir\b/g, "working_dir"],
];

export const unforeseen =
  "The tool failed for a reason it does not know. Call it again, or use another sandbox.";

const leftBehind = "Its sandbox could not be deleted; list_sandboxes shows it, delete_sandbox removes it.";
const look = "file_list of the directory shows what is there.";
const inTheWay =
  "Choose another path, or remove what is there with file_remove; file_list of its directory shows it.";
const freeSomething = "Free what is no longer needed, for example with delete_sandbox, and call again.";
const useAllowedPath = "Use an absolute path under /workspace or /tmp.";

const stepOfCode: Readonly<Record<string, string>> = {
  SANDBOX_NOT_FOUND: "list_sandboxes shows the sandboxes that exist; create_sandbox makes one.",
  SANDBOX_PAUSED: "Wake it with resume_sandbox, then call again.",
  SANDBOX_CREATING: "It is still starting; call again in a few seconds.",
  TEMPLATE_NOT_FOUND: "list_templates shows the templates that exist.",
  FILE_NOT_FOUND: look,
  DIRECTORY_NOT_FOUND: look,
  INVALID_PATH: look,
  FILE_ALREADY_EXISTS: inTheWay,
  FILE_OPERATION_FAILED: "Call again in a moment; file_list shows what is there.",
  PERMISSION_DENIED: "Choose another path; run_command with ls -l shows the permissions.",
  PATH_NOT_ALLOWED: useAllowedPath,
  FILE_TOO_LARGE: "Use run_command to work on it in parts, such as head -c or sed -n.",
  LANGUAGE_NOT_AVAILABLE: "get_template names the languages that a template has.",
  INTERNET_ACCESS_UNAVAILABLE: "Call create_sandbox without internet_access.",
  RESOURCE_LIMIT_ERROR: freeSomething,
  RESOURCE_EXHAUSTED:
    "Call again when less runs in the sandbox, or end it with delete_sandbox and create another with create_sandbox.",
  DISK_FULL: "Delete files with file_remove, or use another sandbox from create_sandbox.",
  EXECUTION_INTERRUPTED: "Look at the files with file_list before running it again, with less memory.",
  AGENT_UNREADABLE: "Delete the sandbox with delete_sandbox and create another with create_sandbox.",
};

function stepOfKind(error: SandboxError): string {
  if (error instanceof RateLimitError)
    return `Wait ${Math.ceil(error.retryAfter ?? 10)} seconds, then call again.`;
  if (error instanceof ServerError) {
    return `Call again in a few seconds; to report it, give request id ${error.requestId ?? "unknown"}.`;
  }
  if (error instanceof TimeoutError && error.kind === "execution") {
    return "Give a larger timeout (at most 300 seconds), or do less in one call.";
  }
  if (error instanceof AuthenticationError && error.code.includes("TOKEN")) {
    return "get_sandbox shows whether the sandbox still exists; create_sandbox makes another.";
  }
  if (error instanceof ConfigurationError) return `${error.hint ?? ""} This is the user's to do.`.trimStart();
  return (
    stepOfClass[error.name] ??
    "Call again; if it goes on failing, create another sandbox with create_sandbox."
  );
}

const stepOfClass: Readonly<Record<string, string>> = {
  AuthenticationError:
    "The user must correct CLOUD_SANDBOX_API_KEY in this server's configuration, or remove it to run sandboxes on this machine.",
  ConflictError: "get_sandbox shows its present state.",
  NetworkError:
    "Call again in a moment; if it still fails, the user must check the network and CLOUD_SANDBOX_BASE_URL, or set CLOUD_SANDBOX_BACKEND=local to run sandboxes on this machine.",
  PermissionDeniedError: "list_sandboxes and list_templates show what this account may use.",
  ResourceLimitError: freeSomething,
  SandboxExpiredError: "Create another with create_sandbox, or use execute_code_isolated.",
  TimeoutError: "Call again in a few seconds; get_sandbox shows whether the sandbox is well.",
  ValidationError: "Correct the argument and call again.",
};

function firstSentence(text: string): string {
  return /^.+?[.!?](?=\s+[A-Z]|$)/s.exec(text)?.[0] ?? text;
}

function closed(text: string): string {
  return /[.!?]$/.test(text.trimEnd()) ? text.trimEnd() : `${text.trimEnd()}.`;
}
