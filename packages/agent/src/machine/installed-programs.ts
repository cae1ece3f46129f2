import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findExecutable } from "./executable.js";
import { readSystemFile } from "./system-file.js";

/** Knows which programs are on the search path. What was found once is taken to stay. */
export class InstalledPrograms {
  readonly #found = new Map<string, string>();

  constructor(private readonly searchPath: string) {}

  /** Whether it is there, answered at once where that is known. */
  has(program: string): boolean | Promise<boolean> {
    return this.#found.has(program) || this.find(program).then((path) => path !== undefined);
  }

  async find(program: string): Promise<string | undefined> {
    const path = await findExecutable(program, this.searchPath);
    if (path !== undefined) this.#found.set(program, path);
    return path;
  }

  /** The Go toolchain's version, read from its installation; empty without one. */
  async goVersion(): Promise<string> {
    const go = await this.find("go");
    if (go === undefined) return "";
    const file = join(dirname(dirname(await realpath(go))), "VERSION");
    return /^go\S+/.exec(await readSystemFile(file))?.[0] ?? "";
  }
}
