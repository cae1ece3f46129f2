import { addAbortSignal } from "node:stream";
import type { StoredSecretRecord } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../command-line/action.js";
import { forEachNamed } from "../command-line/for-each-named.js";
import { listed } from "../command-line/option-values.js";
import { examples, subcommand } from "../command-line/subcommand.js";
import { CommandError } from "../errors/command-error.js";
import type { Column } from "../output/table.js";
import { moment } from "./sandbox/sandbox-view.js";

interface SetOptions {
  readonly host: readonly string[];
}

const columns: readonly Column<StoredSecretRecord>[] = [
  { title: "NAME", value: ({ name }) => name, isWhole: true },
  { title: "HOSTS", value: ({ hosts }) => hosts.join(", ") },
  { title: "STATE", value: ({ state }) => state },
  { title: "SET", value: ({ updatedAt }) => moment(updatedAt) },
];

export function define(command: Command): void {
  const set = subcommand(
    command,
    "set <name>",
    "store a secret, whose value is read from stdin; sandboxes name it with --secret VARIABLE:NAME",
  )
    .requiredOption("--host <host...>", "where it may be sent", listed)
    .action(
      action<SetOptions, [string]>(async ({ options, output, server, signal }, name) => {
        const value = await credential(signal);
        const { secrets } = await server();
        const secret = await secrets.set(name, { value, hosts: options.host }, { signal });
        output.done(`Secret ${secret.name} is stored.`, secret);
      }),
    );
  examples(
    set,
    "cloud-sandbox secret set github --host api.github.com < token",
    "cloud-sandbox run report.py --secret GITHUB_TOKEN:github",
  );
  subcommand(command, "list", "list the stored secrets, without their values")
    .alias("ls")
    .action(
      action(async ({ output, server, signal }) => {
        const rows = await (await server()).secrets.list({ signal });
        await output.table(rows, columns, 'no stored secrets; "cloud-sandbox secret set" stores one.');
      }),
    );
  subcommand(command, "delete <name...>", "delete stored secrets; sandboxes that name them lose them")
    .alias("rm")
    .action(
      action<object, [string[]]>(async (call, names) => {
        const { output, server, signal } = call;
        const { secrets } = await server();
        const known = new Set((await secrets.list({ signal })).map(({ name }) => name));
        await forEachNamed(names, call, async (name) => {
          // The client's delete also succeeds for a secret that does not exist, which would hide a mistyped name.
          if (!known.has(name))
            throw new CommandError("SECRET_NOT_FOUND", `There is no stored secret ${name}.`);
          await secrets.delete(name, { signal });
          output.done(`${name} is deleted.`, { name, deleted: true });
        });
      }),
    );
}

/** What stdin has. On a terminal nobody would see what to type. */
async function credential(signal: AbortSignal): Promise<string> {
  if (process.stdin.isTTY)
    throw new CommandError(
      "INVALID_SECRET",
      "The value is read from stdin, which is a terminal here.",
      "Pipe it, or read it from a file: cloud-sandbox secret set NAME --host HOST < FILE",
    );
  let text = "";
  for await (const piece of addAbortSignal(signal, process.stdin).setEncoding("utf8")) text += piece;
  return text.trim();
}
