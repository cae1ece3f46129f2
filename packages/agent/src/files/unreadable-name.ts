import { lstat, readdir } from "node:fs/promises";
import { pathProblem } from "./file-problem.js";

/** What stands in a text for bytes that are not UTF-8. */
const replacement = "\ufffd";

/**
 * The bytes of a path whose text has U+FFFD in it, as listings show names that are not UTF-8: each such name stands
 * for the entry that reads like it. Undefined where there is none. Nothing is held: check what the path leads to.
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

/** The path of the entry of a directory that has this name or reads like it. */
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
      `${path}: several names read like this one. Rename them by a command.`,
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
