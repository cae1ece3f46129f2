/** Servers' configurations and the file that keeps them, without the MCP SDK, which takes time to load. */

export {
  isServerName,
  type McpServerConfiguration,
  serverConfiguration,
} from "./config/server-configuration.js";
export {
  checkedServers,
  type McpServerEntries,
  type McpServerFile,
  parseServerFile,
  readServerFile,
  serverFilePath,
  serverFileText,
} from "./config/server-file.js";
export { McpConfigurationError } from "./errors.js";
