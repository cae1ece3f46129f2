#!/usr/bin/env node
import { CommanderError } from "commander";
import { failed } from "./errors/exit-codes.js";
import { explain } from "./errors/explain-error.js";
import { Output } from "./output/output.js";
import { createProgram } from "./program.js";

const words = process.argv.slice(2);
createProgram(words)
  .then((program) => program.parseAsync(words, { from: "user" }))
  .catch((error: unknown) => {
    const isHelp = error instanceof CommanderError && /^commander\.(help|version)/.test(error.code);
    if (isHelp) process.exitCode = error.exitCode === 0 ? 0 : failed;
    else {
      const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
      new Output({ json: own.includes("--json") }).problem(explain(error));
      process.exitCode = failed;
    }
  });
