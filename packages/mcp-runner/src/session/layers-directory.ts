/** Where a backend on this machine keeps installed servers for the next program. */
import { join } from "node:path";

/**
 * How many programs at a time can keep what they installed. Each uses a directory of its own, because backends share none: while
 * one has a server installed, another one that needs the same server installs it too.
 */
const mostKeeping = 4;

/**
 * Calls `open` with the data directory of a backend: the first one below `cache` that no other program is using. If all are in
 * use, calls it with `undefined`, and what is installed is kept for this program only.
 */
export async function openWithLayers<Backend>(
  cache: string,
  open: (dataDir: string | undefined) => Promise<Backend>,
): Promise<Backend> {
  for (let attempt = 1; attempt <= mostKeeping; attempt += 1) {
    try {
      return await open(join(cache, attempt === 1 ? "mcp-layers" : `mcp-layers-${attempt}`));
    } catch (error) {
      if (!isInUse(error)) throw error;
    }
  }
  return open(undefined);
}

/** Whether another program uses the directory, as the local backend says. */
function isInUse(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "DATA_DIRECTORY_IN_USE";
}
