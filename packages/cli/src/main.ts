#!/usr/bin/env node
import { constants } from "node:os";
import { keepCompiledCode } from "./start/compile-cache.js";
import { answers } from "./start/prepared-answers.js";

// Help and version are prepared by the build. To make them anew would take twice as long as Node.js takes to start.
const words = process.argv.slice(2);
const text = words.length === 1 ? prepared(words[0] ?? "") : undefined;
if (text === undefined) {
  keepCompiledCode();
  // Loaded after the cache is in use, so that its code is kept too.
  void import("./parse.js").then(({ parse }) => parse(words));
} else {
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    process.exitCode = code === "EPIPE" ? 128 + constants.signals.SIGPIPE : 125;
  });
  process.stdout.write(text);
}

/** The prepared answer to a word, if it is as long as the lines of this terminal. */
function prepared(word: string): string | undefined {
  const { columns, isTTY } = process.stdout;
  const width = isTTY ? columns : answers.width;
  const isHelp = ["--help", "-h", "help"].includes(word);
  if (isHelp) return width === answers.width ? answers.help : undefined;
  return ["--version", "-V"].includes(word) ? answers.version : undefined;
}
