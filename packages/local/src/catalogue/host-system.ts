import { readFile } from "node:fs/promises";
import type { OfferedSystem } from "@cloud-sandbox/protocol";

/** The operating system of this machine and so of its sandboxes; undefined if `/etc/os-release` does not name it. */
export async function findHostSystem(): Promise<OfferedSystem | undefined> {
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  const field = (name: string): string => new RegExp(`^${name}="?([^"\\n]*)`, "m").exec(release)?.[1] ?? "";
  if (field("ID") === "") return undefined;
  return { id: field("ID"), like: field("ID_LIKE").split(" "), version: field("VERSION_ID") };
}
