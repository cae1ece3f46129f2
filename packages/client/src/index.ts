export type { CallOptions } from "./call-options.js";
export type { SandboxClientOptions, Timeouts } from "./client-options.js";
export { Commands } from "./commands.js";
export type { AgentClient, ControlPlaneClient } from "./contract-clients.js";
export { EnvironmentVariables } from "./environment-variables.js";
export type { Plane } from "./error-from-response.js";
export {
  AbortError,
  ApiError,
  AuthenticationError,
  ConfigurationError,
  ConflictError,
  InvalidResponseError,
  isSandboxError,
  NetworkError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ResourceLimitError,
  SandboxError,
  SandboxExpiredError,
  ServerError,
  TimeoutError,
  type TimeoutKind,
  ValidationError,
} from "./errors.js";
export type {
  CommandResult,
  ExecutionResult,
  OutputExtent,
  ProgramResult,
  RichOutput,
  TerminationReason,
} from "./execution-result.js";
export type { FileContent } from "./file-content.js";
export {
  type DirectoryListing,
  type FileEntry,
  Files,
  type WriteOptions,
  type WrittenFile,
} from "./files.js";
export type {
  IsolatedExecutionOptions,
  IsolatedExecutionResult,
  IsolatedExecutionStep,
} from "./isolated-execution.js";
export type {
  AgentHealth,
  AgentInfo,
  ResourceUse,
  SandboxMetrics,
  SandboxProcess,
} from "./machine-reports.js";
export { type Page, PaginatedList } from "./paginated-list.js";
export type { RunningOptions } from "./running-options.js";
export { type ExecuteOptions, Sandbox } from "./sandbox.js";
export { SandboxClient, type ServiceHealth } from "./sandbox-client.js";
export type { CreateSandboxOptions, EgressLists } from "./sandbox-creation.js";
export type { Isolation, SandboxRecord, SandboxStatus } from "./sandbox-record.js";
export { type ListSandboxesOptions, Sandboxes } from "./sandboxes.js";
export { type ListTemplatesOptions, type Template, type TemplateStatus, Templates } from "./templates.js";
export type { Fetch } from "./transport/fetch-transport.js";
export type { Hooks, RequestEvent, ResponseEvent, RetryEvent } from "./transport/hooks.js";
export type { RetryOptions } from "./transport/retry-policy.js";
export { version } from "./version.js";
