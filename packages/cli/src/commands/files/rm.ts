import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { CommandError } from "../../errors/command-error.js";
import { remotePlace } from "./place.js";

export function define(command: Command): void {
  command
    .argument("<id:path...>", "files of sandboxes")
    .option("-r, --recursive", "remove directories and everything in them")
    .action(
      action<{ recursive?: boolean }, [string[]]>(async ({ options, output, sandbox, signal }, texts) => {
        for (const { path, sandbox: id } of texts.map(remotePlace)) {
          const { files } = await sandbox(id);
          const { isDirectory, isSymlink } = await files.stat(path, { signal });
          if (isDirectory && !isSymlink && options.recursive !== true)
            throw new CommandError("IS_DIRECTORY", `${path} is a directory.`, "Remove it with --recursive.");
          await files.remove(path, { signal });
          output.done(`${path} is removed.`, { path, removed: true });
        }
      }),
    );
}
