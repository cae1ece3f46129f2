import type { SnapshotRecord } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../command-line/action.js";
import { forEachNamed } from "../command-line/for-each-named.js";
import { pair } from "../command-line/option-values.js";
import { examples, subcommand } from "../command-line/subcommand.js";
import { withSandboxId } from "../connection/sandbox-by-name.js";
import type { Column } from "../output/table.js";
import { moment } from "./sandbox/sandbox-view.js";

interface CreateOptions {
  readonly name?: string;
  readonly label?: Readonly<Record<string, string>>;
}

const columns: readonly Column<SnapshotRecord>[] = [
  { title: "ID", value: ({ id }) => id, isWhole: true },
  { title: "NAME", value: ({ name }) => name },
  { title: "TEMPLATE", value: ({ template }) => template },
  { title: "SIZE", value: ({ sizeBytes }) => sizeBytes && `${Math.ceil(sizeBytes / 2 ** 20)} MiB` },
  { title: "SANDBOX", value: ({ sandboxId }) => sandboxId },
  { title: "CREATED", value: ({ createdAt }) => moment(createdAt) },
];

export function define(command: Command): void {
  const create = subcommand(command, "create <sandbox>", "keep the files of a sandbox as they are now")
    .option("--name <text>", "a name, which commands take in place of the id")
    .option("--label <NAME=value>", "a label; can be repeated", pair)
    .action(
      action<CreateOptions, [string]>(async ({ options, output, server, signal }, word) => {
        const client = await server();
        const { name, label: metadata } = options;
        await withSandboxId(client, word, signal, async (id) => {
          const sandbox = await client.sandboxes.get(id, { signal });
          const snapshot = await sandbox.snapshot({ name, metadata, signal });
          if (!snapshot.consistent)
            output.note("The sandbox went on meanwhile: files that changed may be torn.");
          output.done(`Snapshot ${snapshot.id} is taken.`, snapshot);
        });
      }),
    );
  examples(
    create,
    "cloud-sandbox snapshot create ID --name installed",
    "cloud-sandbox sandbox create --snapshot installed",
    "cloud-sandbox sandbox restore ID installed",
  );
  subcommand(command, "list", "list the snapshots, newest first")
    .alias("ls")
    .action(
      action(async ({ output, server, signal }) => {
        const rows = await (await server()).snapshots.list({ signal });
        await output.table(rows, columns, 'no snapshots; "cloud-sandbox snapshot create" takes one.');
      }),
    );
  subcommand(command, "delete <name...>", "delete snapshots; sandboxes that began with them stay")
    .alias("rm")
    .action(
      action<object, [string[]]>(async (call, names) => {
        const { output, server, signal } = call;
        const { snapshots } = await server();
        await forEachNamed(names, call, async (name) => {
          // The client's delete also succeeds for a snapshot that does not exist, which would hide a mistyped name.
          const { id } = await snapshots.get(name, { signal });
          await snapshots.delete(id, { signal });
          output.done(`${name} is deleted.`, { name, deleted: true });
        });
      }),
    );
}
