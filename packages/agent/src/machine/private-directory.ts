import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * A directory for the agent's working files. Programs in the sandbox can write to it: they may empty it, delete it
 * together with its parent, or replace it. So it is recreated when it is missing, and symbolic links in it are never
 * followed.
 */
export class PrivateDirectory {
  #path: Promise<string> | undefined;
  #making: Promise<string> | undefined;

  /** With a `name`, reuses the directory that an earlier agent made. Without, makes a new one with a random name. */
  constructor(
    private readonly parent: string,
    private readonly name?: string,
  ) {}

  /** The path of the directory, created if it is missing. A program may delete it again at any time. */
  async path(): Promise<string> {
    const path = await this.#existing();
    if (path !== undefined) return path;
    // Report a failure to all callers that wait, but forget it, so that the next call tries again.
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    this.#path = this.#making;
    this.#path.catch(() => {
      this.#path = undefined;
    });
    return this.#path;
  }

  /** Creates a new directory inside this one. */
  async folder(): Promise<string> {
    return mkdtemp(join(await this.path(), "run-"));
  }

  /** Writes a new file and returns its path. */
  async write(directory: string, name: string, content: string): Promise<string> {
    const path = join(directory, name);
    await using file = await createPrivately(path);
    await file.writeFile(content);
    return path;
  }

  /** Writes a file atomically, replacing one of the same name. */
  async replace(name: string, content: string): Promise<void> {
    const directory = await this.path();
    await rename(await this.write(directory, `${name}-${randomUUID()}`, content), join(directory, name));
  }

  /** Reads a file as text. Undefined if it is not a regular file, is larger than `maxBytes` or cannot be read. */
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

  /** The names of the entries in the directory. */
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
      // Something other than a directory has this name. Use a new directory with a random name; the only harm is that
      // the next agent will not find its files.
    }
    return mkdtemp(join(this.parent, ".cloud-sandbox-"));
  }

  /** Creates the parent as a temporary directory for all users, like /tmp, unless something of that name exists. */
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

/**
 * Creates and opens a new file that only its owner can access. Fails if something of that name exists, a symbolic
 * link included.
 */
export const createPrivately = (path: string) => open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
