import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** The directory of this user's settings: `$XDG_CONFIG_HOME/cloud-sandbox`, else `~/.config/cloud-sandbox`. */
export function configDirectory(): string {
  const { XDG_CONFIG_HOME: base } = process.env;
  // The XDG specification says to ignore a relative path.
  const place = base !== undefined && isAbsolute(base) ? base : join(homedir(), ".config");
  return join(place, "cloud-sandbox");
}
