import { chmod, constants, copyFile, readFile, realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { applyEdits, modify } from "jsonc-parser";
import { action } from "../command-line/action.js";
import { listed, onOrOff } from "../command-line/option-values.js";
import { type SecretSource, serverSecretOption } from "../command-line/secret-option.js";
import { examples } from "../command-line/subcommand.js";
import { writePrivateFile } from "../connection/private-file.js";
import { CommandError } from "../errors/command-error.js";
import { confirm } from "./confirm.js";
import { foreignServer, isWrapped, readForeign } from "./import.js";
import { masked } from "./masked.js";
import { changeServers, unknownServer } from "./server-store.js";

interface WrapOptions {
  readonly config: string;
  readonly installCommands?: readonly string[];
  readonly secret?: Readonly<Record<string, SecretSource>>;
  readonly internet?: boolean;
  readonly allow?: readonly string[];
  readonly launcher?: string;
  readonly replace?: boolean;
  readonly yes?: boolean;
}

/** `mcp wrap`: makes an assistant start one of its servers in a sandbox. */
export function define(command: Command): void {
  command
    .description("let a server of an assistant's configuration run in a sandbox")
    .argument("<name>", "the server's name in the configuration")
    .requiredOption("--config <file>", "the assistant's configuration, such as .mcp.json")
    .option("--install-commands <line...>", "command lines that install the server, run once", listed)
    .option(...serverSecretOption)
    .option("--internet <on|off>", "internet access of the server; default: the backend's", onOrOff)
    .option("--allow <destination...>", "let the server reach only these hosts", listed)
    .option("--launcher <line>", "how the assistant starts this command; default: by the path of this one")
    .option("--replace", "replace a server of this name among those of this command")
    .option("-y, --yes", "do not ask")
    .action(
      action<WrapOptions, [string]>(async ({ options, output, signal }, name) => {
        const named = resolve(options.config);
        // Change the file behind a link, which would else be replaced by a file.
        const path = await realpath(named).catch(() => named);
        const file = await readForeign(path);
        const entry = file.entries[name];
        if (entry === undefined) throw unknownServer(name, Object.keys(file.entries));
        if (isWrapped(name, entry))
          throw new CommandError(
            "ALREADY_WRAPPED",
            `Server "${name}" runs in a sandbox already.`,
            'To change it, use "cloud-sandbox mcp config --edit".',
          );
        const wrapped = wrappedEntry(name, entry, options);
        const serverToStore = storedEntry((await foreignServer(file, name)).server, options);
        output.note(`${path} changes:\n${difference(entry, wrapped)}`);
        await confirm("Write this?", options.yes, signal);
        const { serverConfiguration } = await import("cloud-sandbox-mcp-runner/configuration");
        serverConfiguration(name, serverToStore);
        let backup = "";
        await changeServers(async (stored) => {
          if (stored[name] !== undefined && options.replace !== true)
            throw new CommandError(
              "SERVER_EXISTS",
              `There is a server "${name}" already.`,
              "Replace it with --replace.",
            );
          stored[name] = serverToStore;
          // Change the assistant's file here, while other commands that may change it wait. If that fails, nothing is stored.
          backup = await backUp(path);
          const { mode } = await stat(path);
          await writePrivateFile(path, await changedText(path, [...file.serversPath, name], wrapped));
          await chmod(path, mode);
        });
        output.done(`Server ${name} runs in a sandbox now. The file as it was is ${backup}.`, {
          name,
          path,
          backup,
        });
        output.note("The server sees none of this machine's files.");
      }),
    );
  examples(
    command,
    "cloud-sandbox mcp wrap files --config ~/.config/Claude/claude_desktop_config.json",
    "cloud-sandbox mcp wrap github --config .mcp.json --allow api.github.com registry.npmjs.org",
    "cloud-sandbox mcp wrap github --config .mcp.json --secret GITHUB_TOKEN@api.github.com",
  );
}

type Entry = Record<string, unknown>;

/**
 * The entry with which the assistant starts the server from now on. The server's variables are moved to this command's
 * own file, which only this user can read.
 */
function wrappedEntry(name: string, entry: Entry, { launcher }: WrapOptions): Entry {
  if ("url" in entry)
    throw new CommandError(
      "RUNS_ELSEWHERE",
      `Server "${name}" runs elsewhere, at a URL.`,
      "Only servers of this machine can be put into a sandbox.",
    );
  const [command = "", ...words] = launcher?.trim().split(/\s+/) ?? [process.execPath, process.argv[1] ?? ""];
  const kept = Object.entries(entry).filter(([key]) => !["args", "command", "cwd", "env"].includes(key));
  return { ...Object.fromEntries(kept), command, args: [...words, "mcp", "run", name] };
}

function storedEntry(entry: Entry, { allow, installCommands, internet, secret }: WrapOptions): Entry {
  const secrets = secret ?? entry.secrets;
  return JSON.parse(JSON.stringify({ ...entry, secrets, installCommands, internet: allow ?? internet }));
}

/** Copies a file beside itself, for this user only, under a name that no other copy has. Returns the copy's path. */
async function backUp(path: string): Promise<string> {
  const copy = `${path}.${new Date().toISOString().replace(/\D/g, "")}.bak`;
  try {
    await copyFile(path, copy, constants.COPYFILE_EXCL);
    await chmod(copy, 0o600);
    return copy;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another command made its copy in this very millisecond.
    if (code === "EEXIST") return backUp(path);
    throw new CommandError(
      "BACKUP_FAILED",
      `${copy} cannot be written (${code}), so nothing was changed.`,
      "Check the permissions of its directory.",
    );
  }
}

function difference(before: Entry, after: Entry): string {
  const lines = (sign: string, entry: Entry): string[] =>
    JSON.stringify(masked(entry), undefined, 2)
      .split("\n")
      .map((line) => `${sign} ${line}`);
  return [...lines("-", before), ...lines("+", after)].join("\n");
}

/** The file with one entry changed: comments, order and everything else stay. */
async function changedText(path: string, keys: string[], entry: Entry): Promise<string> {
  const text = await readFile(path, "utf8");
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: text.includes("\r\n") ? "\r\n" : "\n" };
  // The parser does not know the byte order mark with which editors of Windows begin a file.
  return applyEdits(text, modify(text.replace(/^\uFEFF/, " "), keys, entry, { formattingOptions }));
}
