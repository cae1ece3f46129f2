/** Handlers for agents and control planes, independent of what implements them. Nothing here needs Node.js. */

export { type AnyAgentHandlers, now } from "./agent/agent-handlers.js";
export {
  type BackgroundDescription,
  type BackgroundExecution,
  type BackgroundOutcome,
  type BackgroundOutput,
  type BackgroundStatus,
  type BackgroundValues,
  backgroundOperations,
  type ExecutionSource,
  executionNotFound,
  type OutputPiece,
  startedFields,
  statusOf,
} from "./agent/background-operations.js";
export { environmentHandlers } from "./agent/environment-handlers.js";
export { cacheHandlers, ExecutionCache, mostKeptOutcomes, outcomeLifetime } from "./agent/execution-cache.js";
export { type CodeRequestBody, executionHandlers } from "./agent/execution-handlers.js";
export {
  attachment,
  type EntryFacts,
  fileDestination,
  fileDone,
  fileInfo,
  fileMissing,
  isBareUpload,
  requireFilePath,
} from "./agent/file-answers.js";
export { type LanguageName, languageNamed, languageNames, languageNotAvailable } from "./agent/languages.js";
export { metricsHandlers, type Share, type Usage } from "./agent/metrics-handlers.js";
export {
  notStarted,
  type Outcome,
  type OutputText,
  outcomeFields,
  type RichOutput,
  richFields,
  type Termination,
  valueFields,
} from "./agent/outcome.js";
export { reportHandlers, type SystemDescription } from "./agent/report-handlers.js";
export { RequestMetrics } from "./agent/request-metrics.js";
export { errorFrame, notStartedFrames, resultFrame } from "./agent/result-frame.js";
export { type KeptContext, sessionHandlers } from "./agent/session-handlers.js";
export { unavailable } from "./agent/unavailable.js";
export { maxVariableBytes, maxVariables, VariableValues } from "./agent/variable-values.js";
export { authenticateAccount, bearerToken } from "./control-plane/account-authentication.js";
export {
  type BuildBase,
  type BuildRecord,
  type BuildStatus,
  type BuildStep,
  buildBase,
  buildNotFound,
  buildStep,
  describeStep,
  hasEnded,
  invalidBuild,
  noRoomForLayers,
  noTemplateToUpdate,
  templateDoesNotStart,
  templateIsBuilt,
  templateIsPublic,
  templateNameTaken,
  templateNotReady,
  tooManyBuilds,
} from "./control-plane/builds.js";
export {
  type Deliveries,
  type Delivery,
  type DeliveryStatus,
  deliveryHandlers,
  deliveryStatuses,
} from "./control-plane/delivery-handlers.js";
export {
  type EgressEntry,
  type EgressRequest,
  type EgressTotals,
  egressHandlers,
} from "./control-plane/egress-handlers.js";
export { type EventHandlerParts, eventHandlers, eventOnWire } from "./control-plane/event-handlers.js";
export { type Idempotency, IdempotentCreates } from "./control-plane/idempotent-creates.js";
export {
  Changes,
  type EventFacts,
  type EventType,
  type EventView,
  type KeptEvent,
  type KeptEvents,
  keptEvents,
  keptMs,
  MemoryEvents,
  type NewEvent,
  newEpoch,
} from "./control-plane/kept-events.js";
export {
  type ProgramAnswer,
  type ProgramHandlerParts,
  type ProgramReader,
  type ProgramSpec,
  programHandlers,
  programNotStored,
  RepeatedPrograms,
} from "./control-plane/program-handlers.js";
export type {
  MountFacts,
  PreviewUrls,
  RequestedEgress,
  SandboxFacts,
} from "./control-plane/sandbox-answers.js";
export {
  type Created,
  type CreateRequest,
  type Fleet,
  type SandboxHandlerParts,
  sandboxHandlers,
} from "./control-plane/sandbox-handlers.js";
export {
  type EndedSandbox,
  nameTaken,
  otherTemplate,
  sandboxCreating,
  sandboxEnded,
  sandboxFailed,
  sandboxNotFound,
  sandboxPaused,
  sandboxStopped,
  templateNotFound,
} from "./control-plane/sandbox-problems.js";
export {
  type RequestedSecrets,
  requestedSecrets,
  type SecretFacts,
  type StoredSecretFacts,
  secretOnWire,
  storedSecretOnWire,
} from "./control-plane/secret-answers.js";
export {
  isAsleep,
  isLook,
  neverSleeps,
  type OnTimeout,
  type SandboxUpdate,
  type SleepSettings,
  type StopReason,
} from "./control-plane/sleep-answers.js";
export {
  type SnapshotFacts,
  type SnapshotRequest,
  type SnapshotShelf,
  snapshotHandlers,
  snapshotNameTaken,
  snapshotNotFound,
  snapshotOfOther,
} from "./control-plane/snapshot-handlers.js";
export { type OwnLimits, type TemplateFacts, withOwnLimits } from "./control-plane/template-facts.js";
export {
  type BuildFacts,
  type ImageSpec,
  type TemplateHandlersOptions,
  templateHandlers,
} from "./control-plane/template-handlers.js";
