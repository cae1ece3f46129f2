import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Files that each home directory begins with: their contents in base64, by their paths below it. */
export type HomeFiles = Readonly<Record<string, string>>;

/** Writes the files below `directory`, where every uid can read them, whatever the umask. */
export function placeHomeFiles(directory: string, files: HomeFiles): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    for (let at = dirname(path); at !== dirname(directory); at = dirname(at)) chmodSync(at, 0o755);
    writeFileSync(path, content, "base64");
    chmodSync(path, 0o644);
  }
}
