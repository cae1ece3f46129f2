import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { pair } from "../../command-line/option-values.js";
import { examples, subcommand } from "../../command-line/subcommand.js";
import { withSandboxId } from "../../connection/sandbox-by-name.js";
import { CommandError } from "../../errors/command-error.js";
import { type SleepChoice, sleepChoice, withSleepOptions } from "./sleep-options.js";

interface UpdateOptions extends SleepChoice {
  readonly label?: Readonly<Record<string, string>>;
}

export function addUpdate(parent: Command): void {
  const command = withSleepOptions(
    subcommand(parent, "update <id>", "change labels, and when a sandbox sleeps"),
  )
    .option("--no-auto-start", "let only start and resume do so")
    .option(
      "--label <NAME=value>",
      "a label; together they replace all that there are; can be repeated",
      pair,
    )
    .action(
      action<UpdateOptions, [string]>(async ({ options, output, server, signal }, word) => {
        if (Object.values(options).every((value) => value === undefined))
          throw new CommandError("USAGE", "Give what is to change, as in --idle-timeout 10m.");
        const client = await server();
        const { label: metadata } = options;
        await withSandboxId(client, word, signal, async (id) => {
          const changed = await client.sandboxes.update(id, { ...sleepChoice(options), metadata, signal });
          output.done(`${id} is changed.`, changed.toJSON());
        });
      }),
    );
  examples(command, "cloud-sandbox sandbox update ID --idle-timeout 10m --on-timeout stop --auto-start");
}
