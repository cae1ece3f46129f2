/**
 * Executes code and reports how it ended. Shared by agents and by control planes that run a program without an agent.
 * Needs Node.js.
 */

export { type ContextLanguage, contextLanguages } from "./context-language.js";
export { ControlChannel, type Frame, sourceBytes } from "./control-channel.js";
export {
  type AuthorityFiles,
  authorityEnvironment,
  authorityVariables,
  connectCommand,
  proxyEnvironment,
  proxyPorts,
} from "./egress-environment.js";
export {
  codeOutcome,
  type EndedCode,
  type EndedProgram,
  ExecutionReport,
  type Intervention,
  programOutcome,
  type ReportedEnd,
  strayReportMessage,
  withLine,
} from "./execution-outcome.js";
export { ExecutionWatch, InterruptWatch } from "./execution-watch.js";
export { ByteWindow, CapturedOutput, KeptOutput, type OutputFile } from "./kept-output.js";
export {
  fitsVariable,
  type OneShotLanguage,
  type OneShotProgram,
  oneShotDescriptors,
  oneShotProgram,
  oneShotPythonDriver,
  type Program,
  shellProgram,
} from "./one-shot-program.js";
export { outputFrames } from "./output-follower.js";
export { outputPiece, readRange } from "./output-piece.js";
