import type { TemplateRecord } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { forEachNamed } from "../../command-line/for-each-named.js";
import { subcommand } from "../../command-line/subcommand.js";
import type { Output } from "../../output/output.js";
import type { Column } from "../../output/table.js";
import { addBuild } from "./build.js";
import { addImport } from "./import.js";

interface ListOptions {
  readonly text?: string;
  readonly language?: string;
}

const columns: readonly Column<TemplateRecord>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "STATUS", value: ({ status }) => status },
  { title: "LANGUAGE", value: ({ language }) => language },
  { title: "DESCRIPTION", value: ({ description, displayName }) => description ?? displayName },
];

export function define(command: Command): void {
  subcommand(command, "list", "list the templates that sandboxes can be created from")
    .alias("ls")
    .option("--text <text>", "only those with this text in their name or description")
    .option("--language <name>", "only those for this language")
    .action(
      action<ListOptions>(async ({ client, options, output, signal }) => {
        const { language, text } = options;
        const rows: TemplateRecord[] = [];
        for await (const record of (await client()).templates.list({ language, text, signal }))
          rows.push(record);
        await output.table(rows, columns, "no such templates.");
      }),
    );
  subcommand(command, "get <name>", "show a template").action(
    action<object, [string]>(async ({ client, output, signal }, name) =>
      showTemplate(await (await client()).templates.get(name, { signal }), output),
    ),
  );
  addBuild(command);
  addImport(command);
  subcommand(command, "delete <name...>", "delete templates; their sandboxes continue")
    .alias("rm")
    .action(
      action<object, [string[]]>(async (call, names) => {
        const { output, server, signal } = call;
        const { templates } = await server();
        await forEachNamed(names, call, async (name) => {
          // Look for the template first: the client's delete also succeeds for one that does not exist, which would hide
          // a mistyped name.
          await templates.get(name, { signal });
          await templates.delete(name, { signal });
          output.done(`${name} is deleted.`, { name, deleted: true });
        });
      }),
    );
}

/** Prints the fields of a template. */
export async function showTemplate(record: TemplateRecord, output: Output): Promise<void> {
  const { resources } = record;
  await output.record(record, [
    ["name", record.name],
    ["id", record.id],
    ["status", record.status],
    ["language", record.language],
    ["description", record.description],
    ["cpu", resources.vcpu],
    ["memory", resources.memoryMb === undefined ? undefined : `${resources.memoryMb} MiB`],
    ["disk", resources.diskGb === undefined ? undefined : `${resources.diskGb} GiB`],
    ["features", record.features.length === 0 ? undefined : record.features.join(", ")],
  ]);
}
