import type { ExecutionState } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { subcommand } from "../../command-line/subcommand.js";
import type { Column } from "../../output/table.js";
import { PrintedOutput } from "../program-output.js";
import { moment } from "./sandbox-view.js";

const columns: readonly Column<ExecutionState>[] = [
  { title: "ID", value: ({ id }) => id, isWhole: true },
  { title: "STATUS", value: ({ status }) => status },
  { title: "EXIT", value: ({ exitCode }) => exitCode },
  { title: "STARTED", value: ({ startedAt }) => moment(startedAt), isWhole: true },
  { title: "COMMAND", value: ({ name }) => name },
];

export function addLogs(parent: Command): void {
  subcommand(
    parent,
    "logs <id> [process]",
    "list the background processes of a sandbox, running and ended, or print the output of one",
  )
    .option("-f, --follow", "keep printing until the program ends")
    .action(
      action<{ follow?: boolean }, [string, string | undefined]>(
        async ({ options, output, signal, ...call }, id, process) => {
          const sandbox = await call.sandbox(id);
          if (process === undefined)
            return output.table(
              await sandbox.processes.list({ signal }),
              columns,
              'no processes; "cloud-sandbox sandbox exec --detach" starts one.',
            );
          const execution = sandbox.processes.get(process);
          const printed = new PrintedOutput({ output, signal });
          if (options.follow === true) {
            for await (const event of execution.follow({ signal })) await printed.add(event);
            return printed.end(0);
          }
          for (let [stdoutOffset, stderrOffset] = [0, 0]; ; ) {
            const piece = await execution.output({ stdoutOffset, stderrOffset, limit: 1_048_576, signal });
            const skipped = {
              stdout: piece.stdoutStart - stdoutOffset,
              stderr: piece.stderrStart - stderrOffset,
            };
            for (const type of ["stdout", "stderr"] as const) {
              const [text, raw, skippedBytes] = [piece[type], piece[`${type}Raw`], skipped[type]];
              if (text !== "" || skippedBytes > 0) await printed.add({ type, text, raw, skippedBytes });
            }
            if (piece.stdout === "" && piece.stderr === "") return printed.end(0);
            ({ stdoutOffset, stderrOffset } = piece);
          }
        },
      ),
    );
}
