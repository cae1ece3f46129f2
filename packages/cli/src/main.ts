#!/usr/bin/env node
import { constants } from "node:os";
import { answers } from "./start/prepared-answers.js";

// The build prepares the texts of help and version: making them at run time would take twice as long as Node.js takes
// to start.
const words = process.argv.slice(2);
const text = words.length === 1 ? prepared(words[0] ?? "") : undefined;
if (text === undefined) {
  void import("./start/start.js").then(({ start }) => start(words, answers.version.trim()));
} else {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE")
      process.stderr.write(`cloud-sandbox: The output could not be written: ${message}\n`);
    process.exitCode = code === "EPIPE" ? 128 + constants.signals.SIGPIPE : 125;
  });
  process.stdout.write(text);
}

/** The prepared text for a word, if it was made for the width of this terminal. */
function prepared(word: string): string | undefined {
  const { columns, isTTY } = process.stdout;
  const width = isTTY ? columns : answers.width;
  const isHelp = ["--help", "-h", "help"].includes(word);
  if (isHelp) return width === answers.width ? answers.help : undefined;
  return ["--version", "-V"].includes(word) ? answers.version : undefined;
}
