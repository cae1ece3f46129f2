import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findExecutable } from "./executable.js";
import { readSystemFile } from "./system-file.js";

/** Finds programs on the search path. A program found once is assumed to stay. */
export class InstalledPrograms {
  readonly #found = new Map<string, string>();

  constructor(private readonly searchPath: string) {}

  /** Whether a program exists. Returns a plain boolean, without a promise, for a program found before. */
  has(program: string): boolean | Promise<boolean> {
    return this.#found.has(program) || this.find(program).then((path) => path !== undefined);
  }

  async find(program: string): Promise<string | undefined> {
    const path = await findExecutable(program, this.searchPath);
    if (path !== undefined) this.#found.set(program, path);
    return path;
  }

  /** The version of the Go toolchain, from its VERSION file. Empty if Go is not installed. */
  async goVersion(): Promise<string> {
    const go = await this.find("go");
    if (go === undefined) return "";
    const file = join(dirname(dirname(await realpath(go))), "VERSION");
    return /^go\S+/.exec(await readSystemFile(file))?.[0] ?? "";
  }
}
