/** Names of other servers' tools beside this program's own. */
import { createHash } from "node:crypto";

/** The longest name that all model providers take. */
const longest = 64;

/** The beginning of the names of a server's tools. */
export function toolPrefix(server: string): string {
  return `${safe(server)}__`;
}

/**
 * The names under which the tools of a server are listed, by their own names, in the same order: `server__tool`. A name that
 * would be too long, or that another tool has already, ends in a digest of the tool's own name instead.
 */
export function listedNames(server: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const tool of tools) {
    if (names.has(tool)) continue;
    const plain = `${toolPrefix(server)}${safe(tool)}`;
    let name = plain;
    // A server can choose names that look as if they were shortened, so look for a digest that no other name has.
    for (let salt = ""; name.length > longest || taken.has(name); salt += " ")
      name = shortened(plain, `${tool}${salt}`);
    names.set(tool, name);
    taken.add(name);
  }
  return names;
}

function shortened(name: string, salted: string): string {
  const digest = createHash("sha256").update(salted).digest("hex").slice(0, 8);
  return `${name.slice(0, longest - digest.length - 1)}_${digest}`;
}

function safe(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_");
}
