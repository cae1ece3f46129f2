import { readFileSync } from "node:fs";
import { createRequire, wrap } from "node:module";
import { join } from "node:path";
import { constants, Script } from "node:vm";

const file = join(__dirname, "program.cjs");
const codeCache = join(__dirname, "program.cache");

/**
 * Starts the agent. With `--compile DIRECTORY` it serves nothing: it tries a start in that empty directory and writes what
 * V8 compiled for it, as V8's code cache, to stdout. A start with that cache beside the program takes a quarter less CPU
 * time. V8 refuses a cache of another version of itself, and the program then starts as if there were none.
 */
async function main(): Promise<void> {
  const script = new Script(wrap(readFileSync(file, "utf8")), {
    filename: file,
    cachedData: readIfThere(codeCache),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = { exports: {} as typeof import("./program.js") };
  const evaluate: (...names: unknown[]) => void = script.runInThisContext();
  evaluate(module.exports, createRequire(file), module, file, __dirname);
  const [option, directory] = process.argv.slice(2);
  if (option !== "--compile" || directory === undefined) return module.exports.run();
  await module.exports.rehearse(directory);
  process.stdout.write(script.createCachedData());
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

void main();
