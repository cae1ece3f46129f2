export { type BuildBase, buildBase } from "./build-base.js";
/** What an agent or a control plane answers, whatever stands behind it. Needs no Node.js. */

export { authenticateAccount } from "./account-authentication.js";
export type { AnyAgentHandlers } from "./agent-handlers.js";
export { now } from "./agent-handlers.js";
export { bearerToken } from "./bearer-token.js";
export {
  buildNotFound,
  invalidBuild,
  noRoomForLayers,
  templateDoesNotStart,
  templateIsBuilt,
  templateIsPublic,
  templateNameTaken,
  templateNotReady,
  tooManyBuilds,
} from "./build-problems.js";
export { type BuildRecord, type BuildStatus, hasEnded } from "./build-record.js";
export { type BuildStep, buildStep, describeStep } from "./build-steps.js";
export { type ClearableCache, cacheHandlers } from "./cache-handlers.js";
export {
  type Deliveries,
  type Delivery,
  type DeliveryStatus,
  deliveryHandlers,
  deliveryStatuses,
} from "./delivery-handlers.js";
export { environmentHandlers } from "./environment-handlers.js";
export { errorFrame } from "./error-frame.js";
export { attachment, type EntryFacts, fileDone, fileInfo } from "./file-answers.js";
export { type Idempotency, IdempotentCreates } from "./idempotent-creates.js";
export {
  type Job,
  type JobDescription,
  type JobOutcome,
  type JobOutput,
  type JobStatus,
  type Jobs,
  type JobValues,
  jobHandlers,
  jobNotFound,
  type OutputPiece,
  startedFields,
  statusOf,
} from "./job-handlers.js";
export { type LanguageName, languageNamed, languageNotAvailable } from "./languages.js";
export { metricsHandlers, type Share, type Usage } from "./metrics-handlers.js";
export {
  notStarted,
  type Outcome,
  type OutputText,
  outcomeFields,
  type RichOutput,
  type Termination,
  valueFields,
} from "./outcome.js";
export { type OwnLimits, withOwnLimits } from "./own-limits.js";
export { RequestMetrics } from "./request-metrics.js";
export { resultFrame } from "./result-frame.js";
export type { EgressWish, PreviewUrls, SandboxFacts } from "./sandbox-answers.js";
export {
  type Created,
  type CreateRequest,
  type Fleet,
  type SandboxHandlerParts,
  sandboxHandlers,
} from "./sandbox-handlers.js";
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
} from "./sandbox-problems.js";
export { type KeptContext, sessionHandlers } from "./session-handlers.js";
export type { TemplateFacts } from "./template-answers.js";
export { type BuildFacts, type TemplateHandlersOptions, templateHandlers } from "./template-handlers.js";
export { unavailable } from "./unavailable.js";
export { bareDestination, fileMissing, isBareUpload } from "./uploads.js";
export { maxVariableBytes, maxVariables, VariableValues } from "./variable-values.js";
