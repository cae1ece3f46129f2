import { constants, copyFileSync, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The files that the home directory begins with. */
export class HomeFiles {
  readonly #copies: string[] = [];

  constructor(private readonly home: string) {}

  /**
   * Copies the files of `directory`, if it exists, as the user whom programs run as. What is in the home directory already is kept:
   * it is of the template, or of the sandbox before it was stopped.
   */
  add(directory: string): void {
    if (!existsSync(directory)) return;
    for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const source = join(entry.parentPath, entry.name);
      const copy = join(this.home, relative(directory, source));
      try {
        mkdirSync(dirname(copy), { recursive: true });
        copyFileSync(source, copy, constants.COPYFILE_EXCL);
        this.#copies.push(copy);
      } catch {
        // Something is there already. It may also be in the place of a directory, or be a link that leads nowhere.
      }
    }
  }

  /** Removes the copies, before the sandbox's own files take their place: what it has removed or replaced is not to come back. */
  remove(): void {
    for (const copy of this.#copies.splice(0)) {
      try {
        rmSync(copy);
        for (let at = dirname(copy); at !== this.home; at = dirname(at)) rmdirSync(at);
      } catch {
        // The directory has other files.
      }
    }
  }
}
