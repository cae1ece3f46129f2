import type { Command } from "commander";
import { handOver } from "../command-line/hand-over.js";
import { define as defineConfig } from "./config.js";
import { define as defineImport } from "./import.js";
import { define as defineQuick } from "./quick.js";
import { define as defineRun } from "./run.js";
import { define as defineServer } from "./server.js";
import { define as defineTools } from "./tools.js";
import { define as defineWrap } from "./wrap.js";

export function define(command: Command): void {
  command.description("MCP servers: other people's in sandboxes, and this one for assistants");
  defineServer(command.command("server"));
  defineTools(command.command("tools"));
  defineQuick(command.command("quick"));
  defineConfig(command.command("config"));
  defineImport(command.command("import"));
  defineWrap(command.command("wrap"));
  defineRun(command.command("run"));
  handOver(
    command
      .command("serve")
      .description("serve sandboxes to AI assistants; takes the options of cloud-sandbox-mcp"),
    [],
    () => import("cloud-sandbox-mcp/main"),
  );
}
