/** Servers' configurations, and where they and installed servers are kept, without the MCP SDK, which takes time to load. */

export {
  isServerName,
  type McpServerConfiguration,
  partedEntry,
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
export { openWithLayers } from "./session/layers-directory.js";
