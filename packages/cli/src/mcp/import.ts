import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { McpServerFile } from "cloud-sandbox-mcp-runner/configuration";
import type { Command } from "commander";
import { action } from "../command-line/action.js";
import { examples } from "../command-line/subcommand.js";
import { CommandError } from "../errors/command-error.js";
import { changeServers } from "./server-store.js";
import { isWrapped } from "./wrapped-entry.js";

/** The result of importing one entry of another program's file. */
interface Imported {
  readonly name: string;
  readonly from: string;
  readonly result: "added" | "replaced" | "there already" | "runs elsewhere" | "wrapped";
}

/** `mcp import`: adds servers from the files of assistants and of e2b-mcp. */
export function define(command: Command): void {
  command
    .description("add the servers of an assistant's configuration, or of e2b-mcp")
    .argument("[file...]", "default: those of Claude Desktop, .mcp.json here, and ~/.e2b-mcp/servers.json")
    .option("--replace", "replace servers of the same name")
    .action(
      action<{ replace?: boolean }, [string[]]>(async ({ options, output }, given) => {
        const paths = given.length > 0 ? given : knownFiles().filter((path) => existsSync(path));
        if (paths.length === 0)
          throw new CommandError(
            "NOTHING_TO_IMPORT",
            "No configuration of an assistant was found.",
            "Give the path of a configuration file.",
          );
        const files = await Promise.all(paths.map((path) => readForeign(path)));
        const rows: Imported[] = [];
        await changeServers((entries) => {
          for (const file of files) {
            for (const [name, entry] of Object.entries(file.entries)) {
              const obstacle = obstacleTo(name, entry);
              const known = options.replace === true ? "replaced" : "there already";
              const result = obstacle ?? (entries[name] === undefined ? "added" : known);
              if (result === "added" || result === "replaced") entries[name] = entry;
              rows.push({ name, from: file.path, result });
            }
          }
        });
        await output.table(
          rows,
          [
            { title: "NAME", value: ({ name }) => name },
            { title: "RESULT", value: ({ result }) => result },
            { title: "FROM", value: ({ from }) => from },
          ],
          "no servers in these files.",
        );
        if (rows.some(({ result }) => result === "there already"))
          output.note("--replace takes over those that are there already.");
      }),
    );
  examples(command, "cloud-sandbox mcp import", "cloud-sandbox mcp import .mcp.json --replace");
}

/** Why an entry is no server that could be run in a sandbox. Undefined if it is one. */
function obstacleTo(name: string, entry: Readonly<Record<string, unknown>>): Imported["result"] | undefined {
  if ("url" in entry || "serverUrl" in entry || "httpUrl" in entry) return "runs elsewhere";
  return isWrapped(name, entry) ? "wrapped" : undefined;
}

/**
 * Reads another program's file, and checks those of its servers that run as a local command. With `name`, checks only that
 * server: others may have keys that only the other program knows.
 */
export async function readForeign(path: string, name?: string): Promise<McpServerFile> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(
      "FILE_UNREADABLE",
      `${path} cannot be read (${code}).`,
      "Give the path of an assistant's configuration.",
    );
  }
  const { checkedServers, parseServerFile } = await import("cloud-sandbox-mcp-runner/configuration");
  const file = parseServerFile(path, text);
  const own = Object.fromEntries(
    Object.entries(file.entries).filter(
      ([key, entry]) =>
        (name === undefined || key === name) &&
        !("url" in entry || "serverUrl" in entry || "httpUrl" in entry),
    ),
  );
  checkedServers({ ...file, entries: own });
  return file;
}

function knownFiles(): string[] {
  const claude = process.platform === "darwin" ? "Library/Application Support/Claude" : ".config/Claude";
  return [
    join(homedir(), claude, "claude_desktop_config.json"),
    ".mcp.json",
    join(homedir(), ".e2b-mcp", "servers.json"),
  ];
}
