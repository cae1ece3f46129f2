import { createHash, randomBytes } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { lstat, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

const extension = ".kept";
const digestLength = 32;
/** A Node.js has 125 MB. */
const largestFile = 256 * 1024 * 1024;
/**
 * The most files of one kind, which is the name up to the first `-`. Only those of the versions of Node.js and of this package
 * that run here are in use.
 */
const mostOfAKind = 64;

/**
 * The result of `make`, cached under `name` in the user's cache directory. A cached result is used unchecked, so it is read
 * only from a file and a directory that this user owns and no other user can write, and only if its digest is correct. If
 * the result cannot be cached, each server makes it anew.
 */
export async function keptOrMade(
  name: string,
  make: () => Promise<Buffer | undefined>,
): Promise<Buffer | undefined> {
  const directory = cacheDirectory();
  const path = directory && join(directory, name + extension);
  const kept = path && read(directory, path);
  if (kept) return kept;
  const made = await make();
  // Errors are ignored: the directory may be read-only, or its file system full.
  if (made && path) await keep(directory, path, made).catch(() => undefined);
  return made;
}

/**
 * The path at which a program may keep the result `name`, which it has to write to another file and rename. Undefined if nothing
 * can be kept.
 */
export function keptPath(name: string): string | undefined {
  const directory = cacheDirectory();
  return directory !== undefined && isSafe(directory) ? join(directory, name + extension) : undefined;
}

/** Removes the cached results whose names start with `prefix`, as far as this user can. */
export async function forget(prefix: string): Promise<void> {
  const directory = cacheDirectory();
  if (directory === undefined || !isSafe(directory)) return;
  const names = await readdir(directory).catch(() => []);
  const paths = names.filter((name) => name.startsWith(prefix)).map((name) => join(directory, name));
  await Promise.all(paths.map((path) => rm(path, { force: true }).catch(() => undefined)));
}

function cacheDirectory(): string | undefined {
  const { XDG_CACHE_HOME = "" } = process.env;
  try {
    const caches = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), ".cache");
    return join(caches, "cloud-sandbox-local");
  } catch {
    // This user has no home directory.
    return undefined;
  }
}

/** Synchronously: a start reads a dozen small files, and handing each to another thread would take longer than reading it. */
function read(directory: string, path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    if (!isSafe(directory)) return undefined;
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = fstatSync(file);
    if (!status.isFile() || !isOwnAlone(status) || status.size > largestFile) return undefined;
    const whole = readFileSync(file);
    const bytes = whole.subarray(digestLength);
    return digestOf(bytes).equals(whole.subarray(0, digestLength)) ? bytes : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

async function keep(directory: string, path: string, bytes: Buffer): Promise<void> {
  await makeDirectory(directory);
  if (!isSafe(directory)) return;
  // Rename a draft to the file, which replaces it as a whole: other servers may be reading or writing the file.
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(draft, Buffer.concat([digestOf(bytes), bytes]), { flag: "wx", mode: 0o600 });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  await removeOldest(directory);
}

/** Creates the directory, but not in the home of another user (as with `sudo`), who could not write to it. */
async function makeDirectory(directory: string): Promise<void> {
  const home = join(directory, "..", "..");
  if ((await stat(home)).uid !== process.getuid?.() && !process.env.XDG_CACHE_HOME) return;
  // One after the other: Node.js 20 does not end a recursive mkdir in /proc, where no directory can be made.
  for (const path of [dirname(directory), directory])
    if (!existsSync(path)) await mkdir(path, { mode: 0o700 }).catch(unlessThere);
}

/** Ignores the error of a directory that another result has made meanwhile. */
function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

/** Removes the oldest files of each kind, which include drafts of killed servers: nobody uses a draft, so it becomes the oldest. */
async function removeOldest(directory: string): Promise<void> {
  const files = await Promise.all(
    (await readdir(directory)).map(async (name) => {
      const path = join(directory, name);
      return { path, kind: name.split("-")[0], time: (await lstat(path)).mtimeMs };
    }),
  );
  const counts = new Map<string | undefined, number>();
  for (const { path, kind } of files.sort((a, b) => b.time - a.time)) {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (count > mostOfAKind) await rm(path, { force: true });
  }
}

function isSafe(directory: string): boolean {
  try {
    const status = lstatSync(directory);
    return status.isDirectory() && isOwnAlone(status);
  } catch {
    return false;
  }
}

/** Whether this user owns a file or a directory, and no other user can write it. */
function isOwnAlone({ uid, mode }: { uid: number; mode: number }): boolean {
  return uid === process.getuid?.() && (mode & 0o022) === 0;
}

function digestOf(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
