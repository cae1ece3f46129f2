import type { ExecutionState } from "cloud-sandbox";
import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { subcommand } from "../../command-line/subcommand.js";
import type { Column } from "../../output/table.js";
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
          const show = (type: "stdout" | "stderr", text: string): void => {
            if (text === "") return;
            if (output.isJson) output.json({ type, text });
            else if (type === "stdout") output.write(text);
            else output.writeError(text);
          };
          if (options.follow === true) {
            for await (const { text, type } of execution.follow({ signal })) show(type, text);
            return;
          }
          for (let offsets = {}; ; ) {
            const piece = await execution.output({ ...offsets, limit: 1_048_576, signal });
            show("stdout", piece.stdout);
            show("stderr", piece.stderr);
            if (piece.stdout === "" && piece.stderr === "") return;
            offsets = { stdoutOffset: piece.stdoutOffset, stderrOffset: piece.stderrOffset };
          }
        },
      ),
    );
}
