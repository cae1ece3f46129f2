import { join } from "node:path";
import { keepCompiledCode } from "@cloud-sandbox/server-kit/compiled-code";
import { cacheDirectory } from "./cache-directory.js";
import { codeDirectory } from "./old-code.js";

/** Runs a command. */
export async function start(words: readonly string[], version: string): Promise<void> {
  keepCompiledCode(codeDirectory(join(cacheDirectory(), "compiled"), version));
  // Import after the cache is in use, so that the compiled code of the commands is stored too.
  const { parse } = await import("../parse.js");
  await parse(words);
}
