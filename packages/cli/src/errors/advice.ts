/** What a user of the command can do after a failure of the client, by the error's code or else its class. */
export const advice: Readonly<Record<string, string>> = {
  API_KEY_MISSING: 'Log in with "cloud-sandbox login", or set CLOUD_SANDBOX_API_KEY.',
  AuthenticationError: 'Log in again with "cloud-sandbox login", or correct CLOUD_SANDBOX_API_KEY.',
  BACKEND_INVALID: "Correct CLOUD_SANDBOX_BACKEND, or unset it.",
  BASE_URL_INVALID: 'Correct --url or CLOUD_SANDBOX_BASE_URL: it is something like "https://api.hopx.dev".',
  CREDENTIAL_INVALID: 'Check CLOUD_SANDBOX_API_KEY, or log in again with "cloud-sandbox login".',
  LOCAL_BACKEND_UNAVAILABLE: 'To use a server elsewhere, log in with "cloud-sandbox login".',
  SANDBOX_NOT_FOUND:
    '"cloud-sandbox sandbox list" shows the sandboxes that exist, "cloud-sandbox sandbox create" makes one.',
  SANDBOX_EXPIRED:
    'Create another sandbox; "cloud-sandbox sandbox timeout" keeps one alive when it is called in time.',
  SANDBOX_FAILED: 'Create another sandbox with "cloud-sandbox sandbox create".',
  SANDBOX_PAUSED: 'Wake the sandbox with "cloud-sandbox sandbox resume".',
  SANDBOX_STOPPED: 'Start the sandbox with "cloud-sandbox sandbox start".',
  SANDBOX_NOT_RUNNING:
    '"cloud-sandbox sandbox get" shows the sandbox\'s status; "cloud-sandbox sandbox start" starts a stopped one.',
  TEMPLATE_NOT_FOUND: '"cloud-sandbox template list" shows the templates that exist.',
  WEBHOOK_DELIVERY_NOT_FOUND: '"cloud-sandbox webhooks list" shows the deliveries that are remembered.',
  BUILD_FAILED: "Correct the step and build again.",
  FILE_NOT_FOUND: '"cloud-sandbox ls" of the path\'s directory shows what is there.',
  DIRECTORY_NOT_FOUND: '"cloud-sandbox ls" of the directory above shows what is there.',
  DISK_FULL: 'Remove what is no longer needed with "cloud-sandbox rm".',
  STORAGE_FULL: "Delete sandboxes and templates that are no longer needed.",
  INTERNET_ACCESS_UNAVAILABLE: "Leave --internet out, or use a server that has a network.",
  ISOLATION_UNAVAILABLE: "Ask for less with --min-isolation, or use another server.",
  LIMITS_UNAVAILABLE: "Ask for less with --memory and --cpu.",
  EXECUTION_TIMEOUT: "Give the execution more time with --timeout (at most 300 s).",
  LISTING_TRUNCATED: 'To list a large directory, run find in the sandbox with "cloud-sandbox sandbox exec".',
  NOT_FOUND: "Check the server's address: it is given without /v1.",
  PermissionDeniedError: "Use an API key with this permission.",
  NetworkError: "Check the server's address and the network.",
};
