/**
 * The parts of a sandbox (files, commands and so on). They are loaded with the first sandbox, while its server answers.
 */

export { SandboxLinks } from "../agent/sandbox-links.js";
export { Desktop } from "../desktop/desktop.js";
export { executeAsync, executeBackground } from "../execution/background-execution.js";
export { Commands } from "../execution/commands.js";
export { Contexts } from "../execution/contexts.js";
export { execute } from "../execution/execute.js";
export { codeStream } from "../execution/live-run.js";
export { Processes } from "../execution/processes.js";
export { PythonPackages } from "../execution/python-packages.js";
export { Files } from "../files/files.js";
export { EnvironmentVariables } from "../machine/environment-variables.js";
export { Metrics } from "../machine/metrics.js";
export { Ports } from "../machine/ports.js";
export { System } from "../machine/system.js";
export { Terminals } from "../streams/terminal.js";
export { applyChanges, changesOf, diffOf } from "./changes.js";
export { SandboxEgress } from "./egress.js";
export { noticeExpiry } from "./expiry-notice.js";
export { KeepAlive } from "./keep-alive.js";
export { forkFailure, forkRequest, restoreSandbox, takeSnapshot } from "./sandbox-snapshots.js";
export { SandboxSecrets } from "./secrets.js";
