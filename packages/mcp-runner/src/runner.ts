/** The runner alone. The MCP SDK, which takes time to load, loads while the first server starts. */
export { McpRunner } from "./mcp-runner.js";
