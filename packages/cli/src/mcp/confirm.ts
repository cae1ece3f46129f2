import { createInterface } from "node:readline/promises";
import { CommandError } from "../errors/command-error.js";

/** Asks the user whether to continue. If there is no terminal, refuses unless `--yes` was given. */
export async function confirm(
  question: string,
  yes: boolean | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (yes === true) return;
  if (!process.stdin.isTTY)
    throw new CommandError("NOT_CONFIRMED", `${question} There is no terminal to ask on.`, "Give --yes.");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError("NOT_CONFIRMED", "Nothing was changed.");
  } finally {
    terminal.close();
  }
}
