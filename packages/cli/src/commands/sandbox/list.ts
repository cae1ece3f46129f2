import type { SandboxRecord, SandboxStatus } from "cloud-sandbox";
import { type Command, Option } from "commander";
import { action } from "../../command-line/action.js";
import { pair } from "../../command-line/option-values.js";
import { subcommand } from "../../command-line/subcommand.js";
import { sandboxColumns } from "./sandbox-view.js";

interface ListOptions {
  readonly status?: SandboxStatus;
  readonly name?: string;
  readonly label?: Readonly<Record<string, string>>;
}

const statuses: readonly SandboxStatus[] = ["creating", "running", "paused", "stopped", "error", "deleted"];

export function addList(parent: Command): void {
  subcommand(parent, "list", "list the sandboxes, newest first")
    .alias("ls")
    .addOption(new Option("--status <status>", "only those with this status").choices(statuses))
    .option("--name <text>", "only those of this name")
    .option("--label <NAME=value>", "only those with this label; can be repeated", pair)
    .action(
      action<ListOptions>(async ({ options, output, server, signal }) => {
        const { label: metadata, name, status } = options;
        const rows: SandboxRecord[] = [];
        const client = await server();
        for await (const sandbox of client.sandboxes.list({ status, name, metadata, signal }))
          rows.push(sandbox.toJSON());
        await output.table(
          rows,
          sandboxColumns,
          (status ?? name ?? metadata)
            ? "no such sandboxes."
            : 'no sandboxes; "cloud-sandbox sandbox create" makes one.',
        );
      }),
    );
}
