import type { FailureAdvice } from "../../errors/failure-advice.js";

const look = "file_list of the directory shows what is there.";
const inTheWay =
  "Choose another path, or remove what is there with file_remove; file_list of the directory shows it.";
const freeSomething = "Delete what is no longer needed, for example with delete_sandbox, and call again.";

export const hopxAdvice: FailureAdvice = {
  steps: {
    SANDBOX_NOT_FOUND: "list_sandboxes shows the sandboxes that exist; create_sandbox makes one.",
    SANDBOX_PAUSED: "Resume the sandbox with resume_sandbox, then call again.",
    SANDBOX_CREATING: "The sandbox is still starting; call again in a few seconds.",
    TEMPLATE_NOT_FOUND: "list_templates shows the templates that exist.",
    FILE_NOT_FOUND: look,
    DIRECTORY_NOT_FOUND: look,
    INVALID_PATH: look,
    FILE_ALREADY_EXISTS: inTheWay,
    FILE_OPERATION_FAILED: "Call again in a moment; file_list shows what is there.",
    PROCESS_NOT_FOUND: "execute_list_processes shows the background executions of a sandbox.",
    CONTEXT_BUSY:
      "execute_list_processes shows what runs; execute_process_output waits for it, execute_kill_process ends it.",
    PERMISSION_DENIED: "Choose another path; run_command with ls -l shows the permissions.",
    PATH_NOT_ALLOWED: "Use an absolute path under /workspace or /tmp.",
    FILE_TOO_LARGE: "Use run_command to work on a large file in parts, such as with head -c or sed -n.",
    LANGUAGE_NOT_AVAILABLE: "get_template names the languages that a template has.",
    DESKTOP_NOT_AVAILABLE: "list_templates shows templates; one with a desktop says so among its features.",
    SECRET_NOT_FOUND: "Ask for the name of a stored secret, or leave secrets out.",
    SNAPSHOT_NOT_FOUND: "Ask for the name of a snapshot; tools of the toolset snapshots list them.",
    INTERNET_ACCESS_UNAVAILABLE: "Call create_sandbox without internet_access.",
    LIMITS_UNAVAILABLE: "Ask for less vcpu and memory_mb, or leave them out.",
    LIMITS_NOT_MET: "Leave vcpu and memory_mb out.",
    RESOURCE_LIMIT_ERROR: freeSomething,
    RESOURCE_EXHAUSTED:
      "Call again when fewer programs run in the sandbox, or delete it with delete_sandbox and create another with create_sandbox.",
    DISK_FULL: "Delete files with file_remove, or use another sandbox from create_sandbox.",
    EXECUTION_INTERRUPTED: "Check the files with file_list, then run the program again with less memory.",
    AGENT_UNREADABLE: "Delete the sandbox with delete_sandbox and create another with create_sandbox.",
    EXECUTION_TIMEOUT:
      "Give a larger timeout (at most 300 seconds), or use execute_code_background or run_command_background.",
    TOKEN_REFUSED: "get_sandbox shows whether the sandbox still exists; create_sandbox makes another.",
    TEMPLATE_CONFLICT: "get_template shows the template's present state.",
    ConflictError: "get_sandbox shows the sandbox's present state.",
    PermissionDeniedError: "list_sandboxes and list_templates show what this account may use.",
    ResourceLimitError: freeSomething,
    SandboxExpiredError: "Create another sandbox with create_sandbox, or use execute_code_isolated.",
    TemplateBuildError: "Correct the command and call build_template again.",
    TimeoutError: "Call again in a few seconds; get_sandbox shows the sandbox's status.",
  },
  otherwise: "Call again; if it keeps failing, create another sandbox with create_sandbox.",
  leftBehind: "The call's sandbox could not be deleted: list_sandboxes shows it, delete_sandbox deletes it.",
  terms: [
    [/\/files\/mkdir\b|\bfiles\.mkdir\(\)/g, "file_mkdir"],
    [/\/files\/download\b|\bfiles\.readBytes\(\)/g, "run_command with base64"],
    [/\bworkdir\b/g, "working_dir"],
    [/\bcallbackUrl\b/g, "callback_url"],
    [/\bcallbackHeaders\b/g, "callback_headers"],
    [/\bcallbackSecret\b/g, "callback_signature_secret"],
    // `args[1]` is the command line itself: it is passed to bash after `-c`.
    [/\bargs\[1\]/g, "command"],
  ],
};
