/** What an agent or a control plane answers, whatever stands behind it. Needs no Node.js. */

export type { AnyAgentHandlers } from "./agent-handlers.js";
export { now } from "./agent-handlers.js";
export { type ClearableCache, cacheHandlers } from "./cache-handlers.js";
export { environmentHandlers } from "./environment-handlers.js";
export { errorFrame } from "./error-frame.js";
export { attachment, type EntryFacts, fileDone, fileInfo } from "./file-answers.js";
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
export { RequestMetrics } from "./request-metrics.js";
export { resultFrame } from "./result-frame.js";
export { type KeptContext, sessionHandlers } from "./session-handlers.js";
export { unavailable } from "./unavailable.js";
export { bareDestination, fileMissing, isBareUpload } from "./uploads.js";
export { maxVariableBytes, maxVariables, VariableValues } from "./variable-values.js";
