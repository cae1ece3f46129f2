/**
 * Executes code and reports how it ended. Shared by agents and by control planes that run a program without an agent.
 * Needs Node.js.
 */

export { ByteWindow } from "./byte-window.js";
export { CapturedOutput } from "./captured-output.js";
export { type ContextLanguage, contextLanguages } from "./context-language.js";
export { ControlChannel, type Frame } from "./control-channel.js";
export {
  type AuthorityFiles,
  authorityEnvironment,
  authorityVariables,
} from "./egress/authority-environment.js";
export { connectCommand, proxyEnvironment, proxyPorts } from "./egress/proxy-environment.js";
export {
  codeOutcome,
  type EndedCode,
  type EndedProgram,
  programOutcome,
  strayReportMessage,
} from "./execution-outcome.js";
export { ExecutionReport, type ReportedEnd } from "./execution-report.js";
export { ExecutionWatch } from "./execution-watch.js";
export { InterruptWatch } from "./interrupt-watch.js";
export { KeptOutput, type OutputFile } from "./kept-output.js";
export {
  type OneShotLanguage,
  type OneShotProgram,
  oneShotDescriptors,
  oneShotProgram,
  oneShotPythonDriver,
} from "./one-shot-program.js";
export { outputFrames } from "./output-follower.js";
export { outputPiece, readRange } from "./output-piece.js";
export { fitsVariable, type Program, shellProgram } from "./program.js";
export { type Intervention, withLine } from "./termination.js";
