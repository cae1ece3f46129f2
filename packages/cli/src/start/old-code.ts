import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** Milliseconds after which the code of another version counts as unused. */
const longestUnused = 30 * 86_400_000;

/**
 * The directory for the compiled code of this version. If there is none yet, removes those of versions that stored nothing for a month:
 * Node.js itself removes no compiled code.
 */
export function codeDirectory(all: string, version: string): string {
  const own = join(all, version);
  if (!existsSync(own)) removeUnused(all);
  return own;
}

function removeUnused(directory: string): void {
  try {
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      if (Date.now() - statSync(path).mtimeMs > longestUnused) rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // Ignore the error: there is no such directory yet, or another command removes the same.
  }
}
