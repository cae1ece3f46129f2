import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Environment } from "./environment.js";

/** The user's directory for what can be made again: `$XDG_CACHE_HOME`, else `~/.cache`. A relative path counts as none. */
export function cacheDirectory({ XDG_CACHE_HOME: base }: Environment): string {
  return base !== undefined && isAbsolute(base) ? base : join(homedir(), ".cache");
}
