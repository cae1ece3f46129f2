import { randomUUID } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError } from "../errors/command-error.js";

/**
 * Reads a file that only this user may read. Undefined if there is none. Refuses a file that other users can read or
 * change, because it holds secrets.
 */
export function readPrivateFile(path: string): string | undefined {
  try {
    const file = lstatSync(path);
    if (!file.isFile())
      throw new CommandError("CONFIG_UNREADABLE", `${path} is no regular file.`, "Move it out of the way.");
    if ((file.mode & 0o077) !== 0)
      throw new CommandError(
        "CONFIG_NOT_PRIVATE",
        `Other users can read or change ${path}.`,
        `Run: chmod 600 ${path}`,
      );
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      "CONFIG_UNREADABLE",
      `${path} cannot be read (${code}).`,
      "Check the permissions of the file.",
    );
  }
}

/** Replaces a file at once, so that a reader sees the old or the new content, with mode 0600. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  const next = `${path}.${randomUUID()}.new`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(next, "wx", 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(
      "CONFIG_UNWRITABLE",
      `${path} cannot be written (${code}).`,
      "Check the permissions of its directory.",
    );
  }
}
