import { Sandbox } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { lifetime, wholeNumber } from "../../command-line/option-values.js";
import { examples, subcommand } from "../../command-line/subcommand.js";
import { withSandboxId } from "../../connection/sandbox-by-name.js";
import { sandboxColumns } from "./sandbox-view.js";

interface ForkOptions {
  readonly count?: number;
  readonly timeout?: number;
}

/** The commands that give sandboxes the files of others: fork and restore. */
export function addSnapshotCommands(parent: Command): void {
  const fork = subcommand(parent, "fork <id>", "make sandboxes that begin with the files of this one")
    .option("--count <number>", "how many, at most 100; default: 1", wholeNumber(1, 100))
    .option("--timeout <time>", "how long they live, as in 90, 15m, 2h; default: as this one", lifetime)
    .action(
      action<ForkOptions, [string]>(async ({ options, output, server, signal }, word) => {
        const client = await server();
        const { count, timeout: timeoutSeconds } = options;
        await withSandboxId(client, word, signal, async (id) => {
          const forks = await client.sandboxes.fork(id, { count, timeoutSeconds, signal });
          const made = forks.filter((fork) => fork instanceof Sandbox);
          await output.table(
            made.map((sandbox) => sandbox.toJSON()),
            sandboxColumns,
            "no sandbox could be made.",
          );
          const failure = forks.find((fork) => !(fork instanceof Sandbox));
          if (failure) throw failure;
        });
      }),
    );
  examples(fork, "cloud-sandbox sandbox fork ID --count 4 -q");
  subcommand(
    parent,
    "restore <id> <snapshot>",
    "give a sandbox the files of a snapshot, in place of its own",
  ).action(
    action<object, [string, string]>(async ({ output, server, signal }, word, snapshot) => {
      const client = await server();
      await withSandboxId(client, word, signal, async (id) => {
        const sandbox = await client.sandboxes.get(id, { signal });
        await sandbox.restore(snapshot, { signal });
        output.done(`${id} has the files of ${snapshot}.`, { id, status: sandbox.status, snapshot });
      });
    }),
  );
}
