import type { FileEntry } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import type { Column } from "../../output/table.js";
import { moment } from "../sandbox/sandbox-view.js";
import { remotePath } from "./path-argument.js";

const columns: readonly Column<FileEntry>[] = [
  { title: "NAME", value: ({ isDirectory, name }) => (isDirectory ? `${name}/` : name) },
  { title: "SIZE", value: ({ isDirectory, size }) => (isDirectory ? undefined : size) },
  { title: "CHANGED", value: ({ modifiedAt }) => moment(modifiedAt), isWhole: true },
  { title: "MODE", value: ({ permissions }) => permissions },
];

export function define(command: Command): void {
  command.argument("<id[:path]>", "a sandbox, and a path in it; default path: /workspace").action(
    action<object, [string]>(async ({ output, sandbox, signal }, text) => {
      const { path, sandbox: id } = remotePath(text);
      const { files } = await sandbox(id);
      const { isDirectory, ...entry } = await files.stat(path, { signal });
      if (!isDirectory) return output.table([{ isDirectory, ...entry }], columns, "");
      const listing = await files.list(path, { signal });
      await output.table(listing.entries, columns, "the directory is empty.");
      if (listing.truncated)
        output.note(`${listing.total} entries in all; the server lists ${listing.entries.length}.`);
    }),
  );
}
