import module from "node:module";
import { join } from "node:path";
import { cacheDirectory } from "./cache-directory.js";
import { keepCompiledCode } from "./code-cache.js";

/** The part of `node:module` that exists since Node.js 22.1. */
interface CompileCache {
  enableCompileCache?(directory: string): unknown;
}

/**
 * Stores what V8 compiles, which makes the next start faster. The directory is the user's own, because compiled code is run as it
 * is found, and anybody can write to the directory for temporary files. Where the directory cannot be written, nothing is stored.
 */
export function useCompileCache(): void {
  const { enableCompileCache } = module as CompileCache;
  const directory = join(cacheDirectory(process.env), "cloud-sandbox-mcp");
  if (enableCompileCache) enableCompileCache(directory);
  else keepCompiledCode(__dirname, directory);
}
