import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { McpServerFile } from "cloud-sandbox-mcp-runner/configuration";
import type { Command } from "commander";
import { action } from "../command-line/action.js";
import { examples } from "../command-line/subcommand.js";
import { CommandError } from "../errors/command-error.js";
import { changeServers } from "./server-store.js";

/** The result of importing one entry of another program's file. */
interface Imported {
  readonly name: string;
  readonly from: string;
  readonly result: "added" | "replaced" | "there already" | "runs elsewhere" | "wrapped" | "invalid";
  /** Keys of the entry that were left out, because only the other program knows them. */
  readonly leftOut?: readonly string[];
}

/** `mcp import`: adds servers from the files of assistants and of e2b-mcp. */
export function define(command: Command): void {
  command
    .description("add the servers of an assistant's configuration, or of e2b-mcp")
    .argument("[file...]", "default: those of Claude Desktop, .mcp.json here, and ~/.e2b-mcp/servers.json")
    .option("--replace", "replace servers of the same name")
    .action(
      action<{ replace?: boolean }, [string[]]>(async ({ options, output }, named) => {
        const paths = named.length > 0 ? named : knownFiles().filter((path) => existsSync(path));
        if (paths.length === 0)
          throw new CommandError(
            "NOTHING_TO_IMPORT",
            "No configuration of an assistant was found.",
            "Give the path of a configuration file.",
          );
        const files = await Promise.all(paths.map((path) => readForeign(path)));
        const { McpConfigurationError } = await import("cloud-sandbox-mcp-runner/configuration");
        const rows: Imported[] = [];
        const problems: string[] = [];
        await changeServers(async (entries) => {
          for (const file of files)
            for (const [name, entry] of Object.entries(file.entries)) {
              const report = (result: Imported["result"], leftOut: readonly string[] = []): void =>
                void rows.push({ name, from: file.path, result, ...(leftOut.length > 0 && { leftOut }) });
              const obstacle = obstacleTo(name, entry);
              const isKnown = Object.hasOwn(entries, name);
              if (obstacle !== undefined) report(obstacle);
              else if (isKnown && options.replace !== true) report("there already");
              else
                try {
                  const { foreignKeys, server } = await foreignServer(file, name);
                  entries[name] = server;
                  report(isKnown ? "replaced" : "added", foreignKeys);
                } catch (error) {
                  if (!(error instanceof McpConfigurationError)) throw error;
                  problems.push(error.summary);
                  report("invalid");
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
        for (const { leftOut, name } of rows)
          if (leftOut)
            output.note(
              `server ${name} has no ${leftOut.join(", ")}: only the other program knows these keys.`,
            );
        if (rows.some(({ result }) => result === "there already"))
          output.note("--replace takes over those that are there already.");
        if (problems.length > 0)
          throw new CommandError(
            "CONFIG_INVALID",
            `${problems.length} of ${rows.length} entries were not taken over: ${problems.join(" ")}`,
            "Correct them, and import the file again.",
          );
      }),
    );
  examples(command, "cloud-sandbox mcp import", "cloud-sandbox mcp import .mcp.json --replace");
}

/** Why an entry is no server that could be run in a sandbox. Undefined if it is one. */
function obstacleTo(name: string, entry: Readonly<Record<string, unknown>>): Imported["result"] | undefined {
  if ("url" in entry || "serverUrl" in entry || "httpUrl" in entry) return "runs elsewhere";
  return isWrapped(name, entry) ? "wrapped" : undefined;
}

/** Reads another program's file. Its entries are not checked yet. */
export async function readForeign(path: string): Promise<McpServerFile> {
  let text: string;
  try {
    // Reading a pipe or a device may never end.
    const status = statSync(path);
    if (!status.isFile()) throw unreadable(path, "it is no regular file");
    // Files of the kernel have no size, and reading some of them never ends.
    if (status.size === 0) throw unreadable(path, "it is empty");
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw unreadable(path, String((error as NodeJS.ErrnoException).code));
  }
  const { parseServerFile } = await import("cloud-sandbox-mcp-runner/configuration");
  return parseServerFile(path, text);
}

/** The server that an entry of another program's file describes, and the entry's keys that only that program knows. Checked. */
export async function foreignServer(
  file: McpServerFile,
  name: string,
): Promise<{ readonly server: Record<string, unknown>; readonly foreignKeys: readonly string[] }> {
  const { checkedServers, partedEntry } = await import("cloud-sandbox-mcp-runner/configuration");
  const parts = partedEntry(file.entries[name] ?? {});
  checkedServers({ ...file, entries: { [name]: parts.server } });
  return parts;
}

const unreadable = (path: string, reason: string): CommandError =>
  new CommandError(
    "FILE_UNREADABLE",
    `${path} cannot be read (${reason}).`,
    "Give the path of an assistant's configuration.",
  );

function knownFiles(): string[] {
  const claude = process.platform === "darwin" ? "Library/Application Support/Claude" : ".config/Claude";
  return [
    join(homedir(), claude, "claude_desktop_config.json"),
    ".mcp.json",
    join(homedir(), ".e2b-mcp", "servers.json"),
  ];
}

/**
 * Whether the entry `name` of an assistant's configuration starts `mcp run NAME`, as `mcp wrap` writes it. Its server is already one
 * of this command's: storing the entry would replace that server with one that starts itself. Other programs have a command
 * `mcp run` too, but start a file with it.
 */
export function isWrapped(name: string, { args }: Readonly<Record<string, unknown>>): boolean {
  if (!Array.isArray(args)) return false;
  const [mcp, run, server] = args.slice(-3);
  return mcp === "mcp" && run === "run" && server === name;
}
