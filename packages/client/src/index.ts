export type {
  AsyncExecuteOptions,
  BackgroundCodeOptions,
  BackgroundExecuteOptions,
  BackgroundOptions,
} from "./background-options.js";
export type { CallOptions } from "./call-options.js";
export type {
  Backend,
  LocalBackendOptions,
  SandboxClientOptions,
  StartedBackend,
  Timeouts,
} from "./client-options.js";
export type { Commands, StreamCommandOptions } from "./commands.js";
export type { AgentClient, ControlPlaneClient } from "./contract-clients.js";
export type { Desktop } from "./desktop/desktop.js";
export type { Keyboard, TypingOptions } from "./desktop/keyboard.js";
export type { ClickOptions, Mouse, MouseButton, ScrollOptions } from "./desktop/mouse.js";
export type { Point, ScreenRegion, ScreenSize } from "./desktop/screen-geometry.js";
export type { Recording, RecordingOptions, ScreenRecorder } from "./desktop/screen-recorder.js";
export type { RecognisedText, ScreenText, TextBounds, TextWaitOptions } from "./desktop/screen-text.js";
export type { Screenshot } from "./desktop/screenshot.js";
export type { VncServer, VncStartOptions, VncState } from "./desktop/vnc-server.js";
export type { DesktopWindow, Windows } from "./desktop/windows.js";
export type { DisplayedData, DisplayedValue } from "./displayed-value.js";
export type { EnvironmentVariables } from "./environment-variables.js";
export type { Plane } from "./error-from-response.js";
export {
  AbortError,
  ApiError,
  type ApiErrorOptions,
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
  type SandboxErrorOptions,
  SandboxExpiredError,
  ServerError,
  StreamClosedError,
  TemplateBuildError,
  TimeoutError,
  type TimeoutKind,
  ValidationError,
} from "./errors.js";
export type { ExecuteOptions } from "./execute-options.js";
export type { Execution, WaitOptions } from "./execution.js";
export type { ExecutionOutput, ExecutionProgress, OutputPosition } from "./execution-output.js";
export type {
  CommandResult,
  ExecutionResult,
  OutputExtent,
  ProgramResult,
  RichOutput,
  TerminationReason,
} from "./execution-result.js";
export type { ExecutionEnd, ExecutionState, ExecutionStatus } from "./execution-state.js";
export type { ExpiringOptions } from "./expiry-notice.js";
export type { FileContent } from "./file-content.js";
export type {
  DirectoryListing,
  FileEntry,
  Files,
  ReadBytesOptions,
  WriteOptions,
  WrittenFile,
} from "./files.js";
export type { HandOverOptions } from "./hand-over.js";
export type {
  HandedOverExecution,
  IsolatedExecutionOptions,
  IsolatedExecutionResult,
  IsolatedExecutionStep,
} from "./isolated-execution.js";
export type { KeepAlive, KeepAliveEnd, KeepAliveOptions } from "./keep-alive.js";
export type {
  DirectoryDownloadOptions,
  DirectoryUploadOptions,
  TransferOptions,
  TransferProgress,
} from "./local-files.js";
export type { LogFields, Logger, LogLevel } from "./logger.js";
export type {
  AgentFeatures,
  AgentHealth,
  AgentInfo,
  CacheStatistics,
  InterpreterSession,
  ResourceUse,
  SandboxMetrics,
  SandboxProcess,
} from "./machine-reports.js";
export type { Metrics } from "./metrics.js";
export type { Page, PaginatedList } from "./paginated-list.js";
export type { Ports, PreviewUrlOptions, WaitForPortOptions } from "./ports.js";
export type { Processes } from "./processes.js";
export type { InstallOptions, PythonPackages } from "./python-packages.js";
export type { RichExecutionResult } from "./rich-execution.js";
export type { RunningOptions } from "./running-options.js";
export { Sandbox } from "./sandbox.js";
export { type CloseOptions, SandboxClient, type ServiceHealth } from "./sandbox-client.js";
export type { CreateSandboxOptions, EgressLists, SandboxLimits } from "./sandbox-creation.js";
export type { ListSandboxesOptions } from "./sandbox-list.js";
export type { Isolation, SandboxRecord, SandboxStatus } from "./sandbox-record.js";
export type { ConnectOptions, Sandboxes } from "./sandboxes.js";
export type { CommandInput, CommandSignal, CommandStream } from "./streams/command-stream.js";
export type { ExecutionStream, StreamedExecution } from "./streams/execution-stream.js";
export type { FileChange, FileWatch, WatchOptions } from "./streams/file-watch.js";
export type {
  ErrorEvent,
  OutputEvent,
  ProgramStream,
  ResultEvent,
  StreamedResult,
} from "./streams/program-stream.js";
export type { Terminal, TerminalOptions, TerminalSize, Terminals } from "./streams/terminal.js";
export type { System } from "./system.js";
export type { ImageMatch } from "./templates/image-match.js";
export type { ReadyCheck } from "./templates/ready-check.js";
export { type CopyOptions, Template } from "./templates/template.js";
export type { TemplateBuildOptions, TemplateBuildProgress } from "./templates/template-build.js";
export type { TemplateRecord, TemplateStatus } from "./templates/template-record.js";
export type { ListTemplatesOptions, Templates } from "./templates/templates.js";
export type { TraceContext } from "./trace-context.js";
export type { RequestOutcome, RequestSpan, Tracing } from "./tracing.js";
export type { Fetch } from "./transport/fetch-transport.js";
export type { CallErrorEvent, Hooks, RequestEvent, ResponseEvent, RetryEvent } from "./transport/hooks.js";
export type { RetryOptions } from "./transport/retry-options.js";
export type { OpenWebSocket, WebSocketLike } from "./transport/sockets.js";
export { version } from "./version.js";
export type { ExecutionReport } from "./webhooks/execution-report.js";
export { type VerifyWebhookOptions, verifyWebhook, type WebhookHeaders } from "./webhooks/verify-webhook.js";
export { WebhookVerificationError } from "./webhooks/webhook-error.js";
export { type WebhookHandlerOptions, webhookHandler } from "./webhooks/webhook-handler.js";
