import { readFile } from "node:fs/promises";
import type { OfferedSystem } from "@cloud-sandbox/protocol";
import { systemNamedBy } from "../runtime/system-release.js";

/** The operating system of this machine and so of its sandboxes; undefined if `/etc/os-release` does not name it. */
export async function findHostSystem(): Promise<OfferedSystem | undefined> {
  return systemNamedBy(await readFile("/etc/os-release", "utf8").catch(() => ""));
}
