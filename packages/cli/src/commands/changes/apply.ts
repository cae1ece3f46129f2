import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { examples } from "../../command-line/subcommand.js";
import { type ApplyOptions, isWhole, reviewAndApply } from "./review.js";

interface Options extends ApplyOptions {
  readonly since?: string;
}

export function define(command: Command): void {
  command
    .argument("<id>", "id or name of the sandbox")
    .argument("[path...]", "paths to apply, as /repo/a.txt; default: all changes but the version control's")
    .option("--since <path>", "the mount with :copy; default: the only one")
    .option("--check", "only say what would happen")
    .option("-y, --yes", "do not ask")
    .action(
      action<Options, [string, string[]]>(async (call, word, paths) => {
        const named = paths.length > 0 ? new Set(paths) : undefined;
        const review = await reviewAndApply(call, await call.sandbox(word), {
          since: call.options.since,
          ...(named && { named }),
        });
        if (call.output.isJson) call.output.json(review.applied);
        return isWhole(review) ? 0 : 1;
      }),
    );
  examples(command, "cloud-sandbox apply work --check", "cloud-sandbox apply work /repo/a.txt /repo/b.txt");
}
