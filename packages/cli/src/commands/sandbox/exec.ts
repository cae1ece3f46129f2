import { limits } from "@cloud-sandbox/server-kit/limits";
import type { Sandbox } from "cloud-sandbox";
import type { Command } from "commander";
import { action, type Call } from "../../command-line/action.js";
import { variable, wholeNumber } from "../../command-line/option-values.js";
import { examples, subcommand } from "../../command-line/subcommand.js";
import { CommandError } from "../../errors/command-error.js";
import { printEvents } from "../program-output.js";

interface ExecOptions {
  readonly detach?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly interactive?: boolean;
  readonly timeout?: number;
  readonly workdir?: string;
}

/** Most characters of the name of a background process. */
const longestName = 200;

export function addExec(parent: Command): void {
  const command = subcommand(
    parent,
    "exec <id> <command...>",
    "run a command in a sandbox: one word is a shell line, several are a program and its arguments",
  )
    .passThroughOptions()
    .option("-w, --workdir <path>", "directory to run in; default: /workspace")
    .option(
      "-e, --env <NAME=value>",
      "environment variable of the command; can be repeated; NAME alone takes its value from here",
      variable,
    )
    .option(
      "-t, --timeout <seconds>",
      `time limit; default: ${limits.executionDefaultSeconds}, at most ${limits.executionSeconds}, or ${limits.backgroundSeconds} with --detach`,
      (text) => wholeNumber(1, limits.backgroundSeconds, " of seconds")(text),
    )
    .option("-i, --interactive", "give the command this command's standard input")
    .option("-d, --detach", "start it in the background, and print its id")
    .action(action<ExecOptions, [string, string[]]>(exec));
  examples(
    command,
    "cloud-sandbox sandbox exec ID ls -l /workspace",
    "cloud-sandbox sandbox exec ID 'ls | wc -l'",
    "cloud-sandbox sandbox exec -i ID -- sort -n < numbers.txt",
  );
}

async function exec(call: Call<ExecOptions>, id: string, words: string[]): Promise<number | undefined> {
  const { options, output, signal } = call;
  const [first, ...rest] = words[0] === "--" ? words.slice(1) : words;
  if (first === undefined)
    throw new CommandError("USAGE", "There is no command to run.", "Give it after the id.");
  if (first.startsWith("-"))
    throw new CommandError("USAGE", `${first} is no command.`, "Give options before the sandbox's id.");
  const command = rest.length === 0 ? first : [first, ...rest];
  const sandbox = await call.sandbox(id);
  if (options.detach === true) return startDetached(sandbox, command, call);
  const { env, interactive, timeout = 30, workdir } = options;
  if (timeout > 300)
    throw new CommandError(
      "USAGE",
      "--timeout is at most 300 s.",
      "Use --detach for work that takes longer.",
    );
  const stream = sandbox.commands.stream(command, {
    env,
    workdir,
    timeoutSeconds: timeout,
    signal,
    stdin: interactive === true ? process.stdin : undefined,
  });
  const { exitCode, result } = await printEvents(stream, call, timeout);
  const { executionTimeSeconds, success, terminationReason } = result;
  const end = { exitCode: result.exitCode, success, executionTimeSeconds, terminationReason };
  if (output.isJson) output.json({ type: "result", ...end });
  return exitCode;
}

async function startDetached(
  sandbox: Sandbox,
  command: string | readonly string[],
  { options, output, signal }: Call<ExecOptions>,
): Promise<undefined> {
  const { env, timeout: timeoutSeconds, workdir } = options;
  // What "logs" lists it by.
  const name = (typeof command === "string" ? command : command.join(" ")).slice(0, longestName);
  const running = { env, name, workdir, timeoutSeconds, signal };
  const { id } = await sandbox.commands.runBackground(command, running);
  await output.record({ id, sandboxId: sandbox.id }, [
    ["id", id],
    ["output", `cloud-sandbox sandbox logs ${sandbox.id} ${id}`],
  ]);
}
