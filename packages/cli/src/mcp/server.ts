import type { McpServerConfiguration } from "cloud-sandbox-mcp-runner";
import type { Command } from "commander";
import { action } from "../command-line/action.js";
import { examples, subcommand } from "../command-line/subcommand.js";
import { CommandError } from "../errors/command-error.js";
import type { Column } from "../output/table.js";
import { confirm } from "./confirm.js";
import { masked } from "./masked.js";
import { type ServerOptions, serverEntry, withServerOptions } from "./server-options.js";
import { changeServers, storedServers, unknownServer } from "./server-store.js";

interface AddOptions extends ServerOptions {
  readonly command: string;
  readonly replace?: boolean;
}

const columns: readonly Column<McpServerConfiguration>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "COMMAND", value: ({ args = [], command }) => [command, ...args].join(" ") },
  { title: "VARIABLES", value: ({ env }) => Object.keys(env ?? {}).join(", ") || undefined },
  { title: "INTERNET", value: ({ internet }) => reach(internet) },
  { title: "DESCRIPTION", value: ({ description }) => description },
];

/** `mcp server`: adds, lists and removes servers that run in sandboxes. */
export function define(command: Command): void {
  command.description("add, list and remove MCP servers that run in sandboxes");
  const add = subcommand(command, "add <name>", "add a server")
    .requiredOption("--command <line>", "command line that starts the server in its sandbox")
    .option("--description <text>", "a sentence about the server")
    .option("--replace", "replace a server of this name");
  withServerOptions(add).action(
    action<AddOptions, [string]>(async ({ options, output }, name) => {
      const entry = serverEntry(options.command, options);
      // Check the entry by itself first: the check of the file would name a line that the file does not have.
      const { serverConfiguration } = await import("cloud-sandbox-mcp-runner/configuration");
      serverConfiguration(name, entry);
      await changeServers((entries) => {
        if (entries[name] !== undefined && options.replace !== true)
          throw new CommandError(
            "SERVER_EXISTS",
            `There is a server "${name}" already.`,
            "Replace it with --replace.",
          );
        entries[name] = entry;
      });
      output.done(`Server ${name} is added.`, { name, added: true });
    }),
  );
  examples(
    add,
    "cloud-sandbox mcp server add files --command 'mcp-server-filesystem /workspace' \\\n" +
      "      --install-commands 'npm install --global @modelcontextprotocol/server-filesystem'",
    `cloud-sandbox mcp server add github --command 'npx -y some-server' --env 'TOKEN=\${GITHUB_TOKEN}' --allow api.github.com`,
  );
  subcommand(command, "list", "list the servers; values of variables are not shown")
    .alias("ls")
    .action(
      action(async ({ output }) => {
        const servers = (await storedServers()).map((server) => masked(server));
        const none = `no servers; "cloud-sandbox mcp server add" adds one, "cloud-sandbox mcp import" adds those of an assistant.`;
        await output.table(servers, columns, none);
      }),
    );
  subcommand(command, "remove <name>", "remove a server")
    .alias("rm")
    .option("-y, --yes", "do not ask")
    .action(
      action<{ yes?: boolean }, [string]>(async ({ options, output, signal }, name) => {
        const names = (await storedServers()).map((server) => server.name);
        if (!names.includes(name)) throw unknownServer(name, names);
        await confirm(`Remove server ${name}?`, options.yes, signal);
        await changeServers((entries) => {
          delete entries[name];
        });
        output.done(`Server ${name} is removed.`, { name, removed: true });
      }),
    );
}

function reach(internet: McpServerConfiguration["internet"]): string | undefined {
  if (internet === undefined) return undefined;
  if (typeof internet === "boolean") return internet ? "on" : "off";
  return internet.join(", ");
}
