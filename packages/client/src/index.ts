export type { LinkOptions } from "./agent/sandbox-links.js";
export type {
  Backend,
  LocalBackendOptions,
  SandboxClientOptions,
  StartedBackend,
  Timeouts,
} from "./config/client-options.js";
export type { Isolation } from "./config/isolation.js";
export type { CallOptions } from "./config/options.js";
export type { Page, PaginatedList } from "./config/paginated-list.js";
export type { NamedSecret, Secret, Secrets } from "./config/secrets.js";
export type { BrowserAccess, BrowserOptions } from "./desktop/browser.js";
export type { Desktop } from "./desktop/desktop.js";
export type { Keyboard, TypingOptions } from "./desktop/keyboard.js";
export type { ClickOptions, Mouse, MouseButton, ScrollOptions } from "./desktop/mouse.js";
export type { Point, ScreenRegion, ScreenSize } from "./desktop/screen-geometry.js";
export type { Recording, RecordingOptions, ScreenRecorder } from "./desktop/screen-recorder.js";
export type { RecognisedText, ScreenText, TextBounds, TextWaitOptions } from "./desktop/screen-text.js";
export type { Screenshot, ScreenshotOptions } from "./desktop/screenshot.js";
export type { VncServer, VncStartOptions, VncState } from "./desktop/vnc-server.js";
export type { DesktopWindow, Windows } from "./desktop/windows.js";
export type { Plane } from "./errors/error-from-response.js";
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
} from "./errors/errors.js";
export type { EventsOptions, EventType, SandboxEvent } from "./events/events.js";
export type {
  AsyncExecuteOptions,
  BackgroundCodeOptions,
  BackgroundExecuteOptions,
  BackgroundOptions,
} from "./execution/background-options.js";
export type { CommandInput, CommandSignal, CommandStream } from "./execution/command-stream.js";
export type { Commands, RunCommandOptions, StreamCommandOptions } from "./execution/commands.js";
export type { Context, ContextOptions, Contexts } from "./execution/contexts.js";
export type {
  DetachOptions,
  ExecuteOptions,
  OutputCallbacks,
  RunningOptions,
  StreamExecuteOptions,
} from "./execution/execute-options.js";
export type { Execution, WaitOptions } from "./execution/execution.js";
export type { ExecutionOutput, ExecutionProgress, OutputPosition } from "./execution/execution-output.js";
export type { ExecutionStream, StreamedExecution } from "./execution/execution-stream.js";
export type { Processes } from "./execution/processes.js";
export type {
  ErrorEvent,
  OutputEvent,
  ProgramStream,
  ResultEvent,
  StreamedResult,
} from "./execution/program-stream.js";
export type { InstallOptions, PythonPackages } from "./execution/python-packages.js";
export type { DisplayedData, DisplayedValue, RichOutput } from "./execution/results/displayed-value.js";
export type {
  CommandResult,
  ExecutionError,
  ExecutionResult,
  OutputExtent,
  ProgramResult,
  TerminationReason,
} from "./execution/results/execution-result.js";
export type { ExecutionEnd, ExecutionState, ExecutionStatus } from "./execution/results/execution-state.js";
export type { SavedFile } from "./execution/results/saved-file.js";
export type { FileContent } from "./files/file-content.js";
export type { DirectoryListing, FileEntry } from "./files/file-entry.js";
export type { FileChange, FileWatch, WatchOptions } from "./files/file-watch.js";
export type {
  Files,
  ReadBytesOptions,
  WriteManyOptions,
  WriteOptions,
  WrittenFile,
} from "./files/files.js";
export type {
  DirectoryDownloadOptions,
  DirectoryUploadOptions,
  TransferOptions,
  TransferProgress,
} from "./files/local-files.js";
export type { DirectoryTransfer, SkippedEntry } from "./files/skipped-entries.js";
export type { FileToWrite } from "./files/write-many.js";
export type { EnvironmentVariables } from "./machine/environment-variables.js";
export type {
  AgentFeatures,
  AgentHealth,
  AgentInfo,
  CacheStatistics,
  ResourceUse,
  SandboxMetrics,
  SandboxProcess,
} from "./machine/machine-reports.js";
export type { Metrics } from "./machine/metrics.js";
export type { PortForward, PortForwardOptions } from "./machine/port-forward.js";
export type { WaitForPortOptions } from "./machine/port-wait.js";
export type { Ports, PreviewLinkOptions, PreviewUrlOptions } from "./machine/ports.js";
export type { System } from "./machine/system.js";
export type {
  AcceptedChange,
  AppliedChange,
  ApplyOptions,
  ChangesOptions,
  ComparedWith,
  DiffOptions,
  FileDiff,
  SandboxChange,
} from "./sandbox/changes.js";
export type { KeepAliveEnd } from "./sandbox/deadline.js";
export type { EgressDecision, SandboxEgress } from "./sandbox/egress.js";
export type { ExpiringOptions } from "./sandbox/expiry-notice.js";
export type {
  DetachedExecution,
  IsolatedExecutionOptions,
  IsolatedExecutionResult,
  IsolatedExecutionStep,
  StreamIsolatedOptions,
} from "./sandbox/isolated/isolated-options.js";
export type {
  IsolatedExecutionEvent,
  IsolatedExecutionStream,
  StreamedIsolatedExecution,
} from "./sandbox/isolated/isolated-stream.js";
export type {
  IsolatedProgram,
  ManyExecutionsOptions,
  ManyExecutionsOutcome,
} from "./sandbox/isolated/many-executions.js";
export type { KeepAlive, KeepAliveOptions } from "./sandbox/keep-alive.js";
export { Sandbox } from "./sandbox/sandbox.js";
export type {
  CreateSandboxOptions,
  EgressLists,
  NamedSandboxOptions,
  SandboxLimits,
} from "./sandbox/sandbox-creation.js";
export type { ListSandboxesOptions } from "./sandbox/sandbox-list.js";
export type { SandboxRecord, SandboxStatus } from "./sandbox/sandbox-record.js";
export type { ConnectOptions, Sandboxes } from "./sandbox/sandboxes.js";
export type { SandboxSecrets, SecretRecord } from "./sandbox/secrets.js";
export type { OnTimeout, SleepOptions, StopReason, UpdateSandboxOptions } from "./sandbox/sleep-options.js";
export type {
  ForkOptions,
  SnapshotOptions,
  SnapshotRecord,
  SnapshotReference,
  Snapshots,
} from "./sandbox/snapshots.js";
export type { StoredSecretRecord, StoredSecrets } from "./sandbox/stored-secrets.js";
export type {
  CreateVolumeOptions,
  HostMount,
  Mounts,
  VolumeMount,
  VolumeRecord,
  Volumes,
} from "./sandbox/volumes.js";
export { type CloseOptions, SandboxClient, type ServiceHealth } from "./sandbox-client.js";
export type { Terminal, TerminalOptions, Terminals } from "./streams/terminal.js";
export type { TerminalReconnection, TerminalSize } from "./streams/terminal-connection.js";
export type { ImageMatch } from "./templates/image-match.js";
export type { ReadyCheck } from "./templates/ready-check.js";
export { Template } from "./templates/template.js";
export type { TemplateBuildOptions, TemplateBuildProgress } from "./templates/template-build.js";
export type { CopyOptions } from "./templates/template-definition.js";
export type { ImageFile, TemplateImportOptions } from "./templates/template-import.js";
export type { TemplateRecord, TemplateStatus } from "./templates/template-record.js";
export type { ListTemplatesOptions, Templates } from "./templates/templates.js";
export type { AgentClient, ControlPlaneClient } from "./transport/contract-clients.js";
export type { Fetch } from "./transport/http/fetch-transport.js";
export type {
  CallErrorEvent,
  Hooks,
  LogFields,
  Logger,
  LogLevel,
  RequestEvent,
  RequestOutcome,
  RequestSpan,
  ResponseEvent,
  RetryEvent,
  TraceContext,
  Tracing,
} from "./transport/observer.js";
export type { RetryOptions } from "./transport/retry-policy.js";
export type { OpenWebSocket, WebSocketLike } from "./transport/sockets/sockets.js";
export { version } from "./transport/version.js";
export type { ExecutionReport } from "./webhooks/execution-report.js";
export {
  type VerifyWebhookOptions,
  verifyEventWebhook,
  verifyWebhook,
  type WebhookHeaders,
} from "./webhooks/verify-webhook.js";
export { WebhookVerificationError } from "./webhooks/webhook-error.js";
export { type WebhookHandlerOptions, webhookHandler } from "./webhooks/webhook-handler.js";
export type { WebhookSubscription, WebhookSubscriptionOptions, Webhooks } from "./webhooks/webhooks.js";
