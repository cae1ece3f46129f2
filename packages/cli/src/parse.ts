import { type Command, CommanderError } from "commander";
import { usageHint, wordsOfHelp } from "./command-line/usage-hint.js";
import { exitCodeOf, failed } from "./errors/command-error.js";
import { explain, lostOutput } from "./errors/explain-error.js";
import { Output } from "./output/output.js";
import { createProgram } from "./program.js";

/** Runs the command that the command line names, and sets the exit code. */
export async function parse(words: readonly string[]): Promise<void> {
  const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
  const output = new Output({ json: own.includes("--json") });
  // The reader of the output may close it, as `head` does. Commands that must clean up listen for that themselves.
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", ({ code, message }: NodeJS.ErrnoException) => {
      if (code !== "EPIPE" && process.exitCode !== failed) output.problem(lostOutput(message));
      process.exitCode = code === "EPIPE" ? exitCodeOf("SIGPIPE") : failed;
    });
  let program: Command | undefined;
  try {
    program = await createProgram(words);
    // Commander's own "help" knows only commands of the first level.
    const isHelpOn = words[0] === "help" && words.length > 1;
    const read = isHelpOn ? wordsOfHelp(program, words.slice(1)) : [...words];
    await program.parseAsync(read, { from: "user" });
  } catch (error) {
    const isHelp = error instanceof CommanderError && /^commander\.(help|version)/.test(error.code);
    if (isHelp) process.exitCode = error.exitCode === 0 ? 0 : failed;
    else {
      const usage = error instanceof CommanderError && program && usageHint(program, own, error);
      output.problem(explain(error, usage || undefined));
      process.exitCode = failed;
    }
  }
}
