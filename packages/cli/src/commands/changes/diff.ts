import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { examples } from "../../command-line/subcommand.js";
import { CommandError } from "../../errors/command-error.js";
import { printableLines } from "../../output/printable.js";
import { changeColumns } from "./review.js";

interface DiffOptions {
  readonly since?: string;
}

export function define(command: Command): void {
  command
    .argument("<id>", "id or name of the sandbox")
    .argument("[path]", "changed file, as /repo/a.txt; without one, all changes are listed")
    .option(
      "--since <what>",
      'the mount with :copy, "template", or a snapshot of the sandbox; default: the only such mount, else "template"',
    )
    .action(
      action<DiffOptions, [string, string | undefined]>(
        async ({ options, output, sandbox, signal }, word, path) => {
          const opened = await sandbox(word);
          if (path === undefined) {
            const changes = await opened.changes({ since: options.since, signal });
            return output.table(changes, changeColumns, "nothing has changed.");
          }
          const { diff, omitted } = await opened.diff(path, { since: options.since, signal });
          if (omitted !== undefined)
            throw new CommandError(
              "NO_DIFF",
              `There is no diff of ${path}: it is ${omitted === "binary" ? "not text" : "too large"}.`,
              `"cloud-sandbox cp ${word}:${path} ." copies the file.`,
            );
          if (output.isJson) output.json({ path, diff });
          // A review on a terminal shows all there is: what code wrote could hide lines of it.
          else output.write(process.stdout.isTTY ? printableLines(diff) : diff);
        },
      ),
    );
  examples(
    command,
    "cloud-sandbox sandbox create --name work --mount /home/me/repo:/repo:copy",
    "cloud-sandbox diff work",
    "cloud-sandbox diff work /repo/a.txt",
    "cloud-sandbox diff work --since with-notes",
  );
}
