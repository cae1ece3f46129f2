import type { VolumeRecord } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../command-line/action.js";
import { forEachNamed } from "../command-line/for-each-named.js";
import { wholeNumber } from "../command-line/option-values.js";
import { examples, subcommand } from "../command-line/subcommand.js";
import { answered } from "../connection/answered.js";
import type { Column } from "../output/table.js";
import { moment } from "./sandbox/sandbox-view.js";

interface CreateOptions {
  readonly size?: number;
}

const columns: readonly Column<VolumeRecord>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "ID", value: ({ id }) => id, isWhole: true },
  { title: "SIZE", value: ({ sizeMb }) => sizeMb && `${sizeMb} MiB` },
  { title: "USED", value: ({ usedBytes }) => usedBytes && `${Math.ceil(usedBytes / 2 ** 20)} MiB` },
  { title: "SANDBOXES", value: ({ sandboxes }) => sandboxes.join(", ") || undefined },
  { title: "CREATED", value: ({ createdAt }) => moment(createdAt) },
];

export function define(command: Command): void {
  const create = subcommand(command, "create <name>", "create a volume, which sandboxes mount with --mount")
    .option("--size <MiB>", "size of its file system; default: 1024", wholeNumber(16, 1_048_576))
    .action(
      action<CreateOptions, [string]>(async ({ options, output, server, signal }, name) => {
        const volume = await (await server()).volumes.create(name, { sizeMb: options.size, signal });
        output.done(`Volume ${volume.name} is created.`, volume);
      }),
    );
  examples(
    create,
    "cloud-sandbox volume create cache --size 4096",
    "cloud-sandbox sandbox create --mount cache:/data",
  );
  subcommand(command, "list", "list the volumes and the sandboxes that mount them")
    .alias("ls")
    .action(
      action(async ({ output, server, signal }) => {
        const { controlPlane, volumes } = await server();
        const rows = await volumes.list({ signal });
        const isEmpty = rows.length === 0 && !output.isJson && !output.isQuiet;
        const answer = isEmpty ? answered(await controlPlane.GET("/v1/volumes", { signal })) : undefined;
        await output.table(
          rows,
          columns,
          answer?.unavailable ?? 'no volumes; "cloud-sandbox volume create" makes one.',
        );
      }),
    );
  subcommand(command, "delete <name...>", "delete volumes and their files")
    .alias("rm")
    .action(
      action<object, [string[]]>(async (call, names) => {
        const { output, server, signal } = call;
        const { volumes } = await server();
        await forEachNamed(names, call, async (name) => {
          // The client's delete also succeeds for a volume that does not exist, which would hide a mistyped name.
          await volumes.get(name, { signal });
          await volumes.delete(name, { signal });
          output.done(`${name} is deleted.`, { name, deleted: true });
        });
      }),
    );
}
