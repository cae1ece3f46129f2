import { readFileSync } from "node:fs";

/** The text of a file of the kernel. Empty if it cannot be read, for example because its process has ended. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
