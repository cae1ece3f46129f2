import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdtemp, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * Where the agent keeps what the sandbox's programs need from it. Those programs have the same uid: they may empty
 * the directory or take its place, so it is made anew when it is gone and nothing in it is ever followed.
 */
export class PrivateDirectory {
  #path: Promise<string> | undefined;

  constructor(private readonly parent: string) {}

  /** The directory, which existed a moment ago. */
  async path(): Promise<string> {
    const path = await this.#path;
    if (path !== undefined && (await lstat(path).catch(() => undefined))?.isDirectory()) return path;
    this.#path = mkdtemp(join(this.parent, ".cloud-sandbox-"));
    // A failure is told to whoever asked, and not remembered.
    this.#path.catch(() => {
      this.#path = undefined;
    });
    return this.#path;
  }

  /** A new directory in it. */
  async folder(): Promise<string> {
    return mkdtemp(join(await this.path(), "run-"));
  }

  /** The path of a file of that name and content, which is written when it is not there. */
  async keep(name: string, content: string): Promise<string> {
    const directory = await this.path();
    const path = join(directory, name);
    const exists = (await lstat(path).catch(() => undefined))?.isFile();
    if (!exists) await rename(await this.write(directory, `${name}-${randomUUID()}`, content), path);
    return path;
  }

  /** Writes a new file and tells its path. */
  async write(directory: string, name: string, content: string): Promise<string> {
    const path = join(directory, name);
    await using file = await createPrivately(path);
    await file.writeFile(content);
    return path;
  }

  async remove(): Promise<void> {
    const path = await this.#path;
    if (path !== undefined) await rm(path, { recursive: true, force: true });
  }
}

/** Opens a file that nobody else has, and that is no link to somewhere else. */
export const createPrivately = (path: string) => open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
