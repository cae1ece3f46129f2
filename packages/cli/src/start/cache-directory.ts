import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** The user's own directory for what can be made again: `$XDG_CACHE_HOME/cloud-sandbox`, else `~/.cache/cloud-sandbox`. */
export function cacheDirectory(): string {
  const { XDG_CACHE_HOME: base } = process.env;
  return join(base !== undefined && isAbsolute(base) ? base : join(homedir(), ".cache"), "cloud-sandbox");
}
