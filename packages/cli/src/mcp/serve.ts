import type { Command } from "commander";
import { handOver } from "../command-line/hand-over.js";

/** `mcp serve`: starts this project's MCP server (cloud-sandbox-mcp), with its own options. */
export function define(command: Command): void {
  handOver(
    command.description("serve sandboxes to AI assistants; takes the options of cloud-sandbox-mcp"),
    [],
    () => import("cloud-sandbox-mcp/main"),
  );
}
