#!/usr/bin/env node
import { Command, InvalidArgumentError } from "commander";
import { type RunOptions, runCommand } from "./run-command.js";
import { version } from "./version.js";

/** Exit code when the program did not run: few programs end with it themselves. */
const notRun = 125;

const program = new Command("cloud-sandbox")
  .description("Run code in isolated sandboxes: in the cloud with an API key, else on this machine.")
  .version(version)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : notRun));

program
  .command("run")
  .description(
    "run a program in a sandbox of its own; this command prints the program's output and ends with its exit code",
  )
  .argument("[file]", "file of the program; - or no file reads the program from standard input")
  .option("-c, --code <code>", "program text, instead of a file")
  .option(
    "-l, --language <name>",
    "python, javascript, bash or go; default: by the file's extension, else python",
  )
  .option("-t, --timeout <seconds>", "time limit, 1 to 300", seconds, 30)
  .option("--template <name>", "template of the sandbox", "code-interpreter")
  .option(
    "--internet <on|off>",
    "internet access of the sandbox; default: CLOUD_SANDBOX_INTERNET, else on",
    onOrOff,
  )
  .option("-e, --env <NAME=value>", "environment variable of the program; can be repeated", variable, {})
  .action(async (file: string | undefined, options: RunOptions) => {
    if (file !== undefined && options.code !== undefined) {
      throw new InvalidArgumentError("Give a file or --code, not both.");
    }
    const interrupted = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => interrupted.abort(new Error(signal)));
    }
    let lost: NodeJS.ErrnoException | undefined;
    for (const stream of [process.stdout, process.stderr]) {
      stream.on("error", (error: NodeJS.ErrnoException) => {
        // EPIPE: the reader of the output has closed it, so the work stops without a message.
        if (error.code !== "EPIPE") lost = error;
        interrupted.abort();
      });
    }
    process.exitCode = await runCommand(file, options, interrupted.signal);
    process.once("beforeExit", () => {
      if (lost === undefined) return;
      process.stderr.write(`cloud-sandbox: the output could not be written: ${lost.message}\n`);
      process.exitCode = notRun;
    });
  });

program.parseAsync().catch((error: unknown) => {
  if (process.stderr.writable) process.stderr.write(`cloud-sandbox: ${explain(error)}\n`);
  process.exitCode = notRun;
  // A standard input that is not read to its end keeps the process alive.
  process.stdin.destroy();
});

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "AbortError") return "the run was interrupted; its sandbox is deleted.";
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" && path !== undefined) return `${path} does not exist; give the path of a program.`;
  if (code === "EISDIR") return "the path is a directory; give the path of a program.";
  return error.message;
}

function seconds(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= 300) return number;
  throw new InvalidArgumentError("The value must be a whole number of seconds from 1 to 300.");
}

function onOrOff(text: string): boolean {
  if (text === "on" || text === "off") return text === "on";
  throw new InvalidArgumentError("The value must be on or off.");
}

function variable(text: string, others: Record<string, string>): Record<string, string> {
  const end = text.indexOf("=");
  if (end < 1) throw new InvalidArgumentError("The value must be NAME=value.");
  return { ...others, [text.slice(0, end)]: text.slice(end + 1) };
}
