export type {
  McpServerConfiguration,
  McpServerOptions,
  McpServerSecret,
} from "./config/server-configuration.js";
export { isServerName, serverConfiguration } from "./config/server-configuration.js";
export {
  McpConfigurationError,
  McpInstallError,
  McpProtocolError,
  McpServerError,
  type McpServerErrorOptions,
  McpStartError,
  McpToolError,
} from "./errors.js";
export { McpRunner, type McpRunnerOptions } from "./mcp-runner.js";
export { type McpCallOptions, type McpProgress, McpSession } from "./session/mcp-session.js";
export { type SandboxHttpOptions, SandboxHttpTransport } from "./transport/sandbox-http-transport.js";
export { type SandboxStdioOptions, SandboxStdioTransport } from "./transport/sandbox-stdio-transport.js";
