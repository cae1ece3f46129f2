import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * Where the agent keeps what the sandbox's programs need from it. Those programs may write to it: they may empty
 * the directory, remove it with the one that it is in, or take its place, so it is made anew when it is gone and nothing in it
 * is ever followed.
 */
export class PrivateDirectory {
  #path: Promise<string> | undefined;

  /** With a name it is the directory of an agent that ran here before, when there was one. */
  constructor(
    private readonly parent: string,
    private readonly name?: string,
  ) {}

  /** The directory, which existed a moment ago. */
  async path(): Promise<string> {
    const path = await this.#existing();
    if (path !== undefined) return path;
    this.#path = this.#make();
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

  /** Puts a file of that content in the place of the one of that name. */
  async replace(name: string, content: string): Promise<void> {
    const directory = await this.path();
    await rename(await this.write(directory, `${name}-${randomUUID()}`, content), join(directory, name));
  }

  /** The text of the file of that name; nothing when there is no ordinary file of at most that size. */
  async read(name: string, maxBytes: number): Promise<string | undefined> {
    try {
      const directory = await this.#existing();
      if (directory === undefined) return undefined;
      await using file = await open(join(directory, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      const found = await file.stat();
      if (!found.isFile() || found.size > maxBytes) return undefined;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(found.size), 0, found.size, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } catch {
      return undefined;
    }
  }

  /** The names in it. */
  async names(): Promise<string[]> {
    const directory = await this.#existing();
    return directory === undefined ? [] : readdir(directory);
  }

  async remove(): Promise<void> {
    const path = await this.#path;
    if (path !== undefined) await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }

  async #existing(): Promise<string | undefined> {
    const path = (await this.#path) ?? (this.name === undefined ? undefined : join(this.parent, this.name));
    if (path === undefined) return undefined;
    return (await lstat(path).catch(() => undefined))?.isDirectory() ? path : undefined;
  }

  async #make(): Promise<string> {
    await this.#makeParent();
    if (this.name !== undefined) {
      const path = join(this.parent, this.name);
      await mkdir(path, { mode: 0o700 }).catch(() => undefined);
      if ((await lstat(path)).isDirectory()) return path;
      // Something else took its place: what it holds now will not be found again, and nothing worse.
    }
    return mkdtemp(join(this.parent, ".cloud-sandbox-"));
  }

  /** A directory for the temporary files of all, where there is nothing of that name. */
  async #makeParent(): Promise<void> {
    try {
      await mkdir(this.parent);
    } catch {
      return;
    }
    await using made = await open(this.parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    await made.chmod(0o1777);
  }
}

/** Opens a file that nobody else has, and that is no link to somewhere else. */
export const createPrivately = (path: string) => open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
