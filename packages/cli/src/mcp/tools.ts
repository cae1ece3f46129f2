import type { McpServerConfiguration, McpSession } from "cloud-sandbox-mcp-runner";
import type { Command } from "commander";
import { action, type Call } from "../command-line/action.js";
import { pair, wholeNumber } from "../command-line/option-values.js";
import { examples, subcommand } from "../command-line/subcommand.js";
import type { Output } from "../output/output.js";
import { printable } from "../output/printable.js";
import { withRunner } from "./runner.js";
import { storedServer } from "./server-store.js";
import { type ToolOptions, toolArguments } from "./tool-arguments.js";

type ToolResult = Awaited<ReturnType<McpSession["callTool"]>>;

interface CallOptions extends ToolOptions {
  readonly callTimeout?: number;
}

interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: {
    readonly properties?: object | undefined;
    readonly required?: readonly string[] | undefined;
  };
}

/** `mcp tools`: lists and calls the tools of a server. */
export function define(command: Command): void {
  command.description("list and call the tools of an MCP server, in a sandbox that is deleted afterwards");
  subcommand(
    command,
    "list <server>",
    "list the tools of a server; parameters with ? may be left out",
  ).action(
    action<object, [string]>(async (call, name) => {
      const server = await storedServer(name);
      const tools = await withRunner(call, server, (runner) =>
        runner.discoverTools(name, { signal: call.signal }),
      );
      await call.output.table<ListedTool>(
        tools,
        [
          { title: "TOOL", value: (tool) => tool.name },
          { title: "PARAMETERS", value: parametersOf },
          { title: "DESCRIPTION", value: ({ description }) => description?.trim().split("\n")[0] },
        ],
        "the server has no tools.",
      );
    }),
  );
  const execute = subcommand(command, "execute <server> <tool>", "call a tool of a server");
  withToolOptions(execute).action(
    action<CallOptions, [string, string]>(async (call, name, tool) => {
      const args = toolArguments(call.options);
      await callTool(call, await storedServer(name), tool, args);
    }),
  );
  examples(
    execute,
    "cloud-sandbox mcp tools execute files list_directory --param path=/workspace",
    `cloud-sandbox mcp tools execute files list_directory --params '{"path": "/workspace"}'`,
  );
}

/** The names of a tool's parameters, with a question mark behind those that may be left out. */
function parametersOf({ inputSchema: { properties = {}, required = [] } }: ListedTool): string | undefined {
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
  return names.length === 0 ? undefined : names.join(", ");
}

export function withToolOptions(command: Command): Command {
  return command
    .option("--params <JSON>", "arguments of the tool, as a JSON object")
    .option("--param <name=value...>", "single arguments; a value that is JSON is parsed", pair)
    .option("--call-timeout <seconds>", "time for the tool's answer; default: 60", wholeNumber(1, 86_400));
}

/** Calls a tool and prints its result: text unchanged, or with `--json` the whole result. */
export async function callTool(
  call: Call<CallOptions>,
  server: McpServerConfiguration,
  tool: string,
  args: Record<string, unknown>,
): Promise<void> {
  const { options, output, signal } = call;
  await withRunner(call, server, async (runner) => {
    await using session = await runner.createSession(server.name, { signal });
    const result = await session.callTool(tool, args, {
      signal,
      timeoutSeconds: options.callTimeout,
      onProgress: ({ message, progress, total }) =>
        output.progress(message ?? `${progress}${total === undefined ? "" : ` of ${total}`}`),
    });
    // Before the sandbox is deleted: nobody has to wait for that.
    printResult(result, output);
  });
}

function printResult(result: ToolResult, output: Output): void {
  if (output.isJson) return void output.json(result);
  for (const item of result.content) {
    if (item.type === "text") output.line(item.text.split("\n").map(printable).join("\n"));
    else if (item.type === "image" || item.type === "audio")
      output.line(
        `[${item.type}: ${printable(item.mimeType)}, ${item.data.length} characters of base64; --json has it]`,
      );
    else output.line(printable(JSON.stringify(item)));
  }
}
