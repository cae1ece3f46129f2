import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, readFile, rm } from "node:fs/promises";
import { type Command, Option } from "commander";
import { action } from "../command-line/action.js";
import { readPrivateFile, writePrivateFile } from "../connection/private-file.js";
import { CommandError } from "../errors/command-error.js";
import { confirm } from "./confirm.js";
import { masked } from "./masked.js";
import { changeServers } from "./server-store.js";

interface ConfigOptions {
  readonly show?: boolean;
  readonly edit?: boolean;
  readonly reset?: boolean;
  readonly yes?: boolean;
}

/** `mcp config`: shows, edits or resets the file of servers. */
export function define(command: Command): void {
  command
    .description("show, edit or empty the file of MCP servers")
    .addOption(
      new Option(
        "--show",
        "print the file's path and servers, without values of variables (default)",
      ).conflicts(["edit", "reset"]),
    )
    .addOption(new Option("--edit", "open the file in $VISUAL or $EDITOR").conflicts(["show", "reset"]))
    .addOption(
      new Option("--reset", "remove all servers; the file is kept as mcp.json.bak").conflicts([
        "show",
        "edit",
      ]),
    )
    .option("-y, --yes", "do not ask")
    .action(
      action<ConfigOptions>(async ({ options, output, signal }) => {
        const { checkedServers, readServerFile, serverFilePath, serverFileText } = await import(
          "cloud-sandbox-mcp-runner/configuration"
        );
        const path = serverFilePath();
        if (options.edit) {
          await edit(path);
          output.done(`${path} is changed.`, { path, changed: true });
        } else if (options.reset) {
          await confirm(`Remove all servers from ${path}?`, options.yes, signal);
          await reset(path);
          output.done(`${path} has no servers; what it had is in ${path}.bak.`, { path, reset: true });
        } else {
          // Check the file first, so that an invalid file is reported instead of shown.
          const file = readServerFile(path);
          if (file !== undefined) checkedServers(file);
          const entries = Object.entries(file?.entries ?? {});
          const servers = Object.fromEntries(entries.map(([name, entry]) => [name, masked(entry)]));
          if (output.isJson) output.json({ path, servers });
          else output.write(`${output.isQuiet ? "" : `// ${path}\n`}${serverFileText(servers)}`);
        }
      }),
    );
}

/** Opens a copy of the file in the user's editor, and stores it only if it is valid. */
async function edit(path: string): Promise<void> {
  const { checkedServers, parseServerFile, serverFileText } = await import(
    "cloud-sandbox-mcp-runner/configuration"
  );
  const copy = `${path}.edit.json`;
  await writePrivateFile(copy, readPrivateFile(path) ?? serverFileText({}));
  const editor = process.env.VISUAL || process.env.EDITOR || "vi";
  const child = spawn("sh", ["-c", `${editor} "$1"`, "edit", copy], { stdio: "inherit" });
  const [code] = await once(child, "exit");
  if (code !== 0) {
    await rm(copy, { force: true });
    throw new CommandError(
      "EDITOR_FAILED",
      `${editor} ended with ${code}, so nothing was changed.`,
      "Set EDITOR to an editor.",
    );
  }
  const file = parseServerFile(copy, await readFile(copy, "utf8"));
  checkedServers(file);
  await changeServers((entries) => {
    for (const name of Object.keys(entries)) delete entries[name];
    Object.assign(entries, file.entries);
  });
  await rm(copy, { force: true });
}

/** Empties the file, even if it cannot be read. */
async function reset(path: string): Promise<void> {
  await copyFile(path, `${path}.bak`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  await chmod(`${path}.bak`, 0o600).catch(() => undefined);
  const { serverFileText } = await import("cloud-sandbox-mcp-runner/configuration");
  await writePrivateFile(path, serverFileText({}));
}
