import { lstat, readdir } from "node:fs/promises";
import { pathProblem } from "./file-problem.js";

/** The character that decoding puts in place of bytes that are not UTF-8. */
const replacement = "\ufffd";

/**
 * Finds the bytes of a path that contains U+FFFD. Listings show names that are not UTF-8 with that character, so such
 * a name stands for the entry that decodes to it. Undefined if there is none. Nothing is pinned: the caller must
 * check what the path leads to.
 */
export async function readsLike(path: string): Promise<Buffer | undefined> {
  if (!path.includes(replacement)) return undefined;
  let at: Buffer = Buffer.from("/");
  for (const name of path.split("/").filter((part) => part !== "")) {
    const next = await entryLike(at, name, path);
    if (!next) return undefined;
    at = next;
  }
  return at;
}

/**
 * The path of the directory entry that has this name or decodes to it. Throws a 400 problem if several decode to it.
 */
export async function entryLike(directory: Buffer, name: string, path: string): Promise<Buffer | undefined> {
  const exact = joined(directory, Buffer.from(name));
  if (!name.includes(replacement) || (await exists(exact))) return exact;
  const names = await readdir(directory, { encoding: "buffer" }).catch(() => []);
  const matching = names.filter((other) => other.toString() === name);
  const [only] = matching;
  if (matching.length > 1)
    throw pathProblem(
      400,
      "INVALID_PATH",
      `${path}: several file names that are not UTF-8 are shown as this one. Rename them with a command.`,
      path,
    );
  return only && joined(directory, only);
}

const exists = (path: Buffer) =>
  lstat(path).then(
    () => true,
    () => false,
  );

const joined = (directory: Buffer, name: Buffer) => Buffer.concat([directory, Buffer.from("/"), name]);
