/** The build runs this module and keeps its result, so that the server starts without the tools and their schemas. */
import { listedTool } from "../../tools/definition/listed-tool.js";
import { mcpServerTools } from "../../tools/mcp-servers.js";

export const listedTools = mcpServerTools.map(listedTool);
