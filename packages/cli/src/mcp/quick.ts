import type { Command } from "commander";
import { action } from "../command-line/action.js";
import { examples } from "../command-line/subcommand.js";
import { type ServerOptions, serverEntry, withServerOptions } from "./server-options.js";
import type { ToolOptions } from "./tool-arguments.js";
import { toolArguments } from "./tool-arguments.js";
import { callTool, withToolOptions } from "./tools.js";

/** `mcp quick`: calls a tool of a server once, without adding the server to the file. */
export function define(command: Command): void {
  command
    .description("call a tool of an MCP server that is not added")
    .argument("<command>")
    .argument("<tool>");
  withToolOptions(withServerOptions(command)).action(
    action<ServerOptions & ToolOptions, [string, string]>(async (call, line, tool) => {
      const args = toolArguments(call.options);
      const { serverConfiguration } = await import("cloud-sandbox-mcp-runner/configuration");
      await callTool(call, serverConfiguration("quick", serverEntry(line, call.options)), tool, args);
    }),
  );
  examples(
    command,
    "cloud-sandbox mcp quick 'npx -y @modelcontextprotocol/server-everything' echo --param message=hello",
  );
}
