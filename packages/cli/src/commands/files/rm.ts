import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { forEachNamed } from "../../command-line/for-each-named.js";
import { CommandError } from "../../errors/command-error.js";
import { remotePath } from "./path-argument.js";

export function define(command: Command): void {
  command
    .argument("<id:path...>", "files of sandboxes")
    .option("-r, --recursive", "remove directories and everything in them")
    .action(
      action<{ recursive?: boolean }, [string[]]>(async (call, texts) => {
        const { options, output, sandbox, signal } = call;
        await forEachNamed(texts.map(remotePath), call, async ({ path, sandbox: id }) => {
          const { files } = await sandbox(id);
          const { isDirectory, isSymlink } = await files.stat(path, { signal });
          if (isDirectory && !isSymlink && options.recursive !== true)
            throw new CommandError("IS_DIRECTORY", `${path} is a directory.`, "Remove it with --recursive.");
          await files.remove(path, { signal });
          output.done(`${path} is removed.`, { path, removed: true });
        });
      }),
    );
}
