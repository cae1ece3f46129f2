import { largestSide, type TextDiff, unifiedDiff } from "@cloud-sandbox/server-kit/changes";
import { type BytePath, bytesOf, textOf } from "./byte-path.js";
import { readPieces } from "./file-content.js";
import { OpenDirectory } from "./open-directory.js";

/** What is at a path: the bytes of a file or of a link's target, with a character for each. */
export type Side = { readonly bytes: string } | { readonly omitted: "binary" | "too_large" };

export interface ComparedSides {
  /** The path, without a slash at its start. */
  readonly path: BytePath;
  readonly before?: Side | undefined;
  readonly after?: Side | undefined;
}

/** Compares the text of two files, or the targets of links. Undefined if there is neither. */
export function textDiff({ path, before, after }: ComparedSides): TextDiff | undefined {
  if (!before && !after) return undefined;
  const texts: (string | undefined)[] = [];
  for (const side of [before, after]) {
    const text = side && ("bytes" in side ? textIn(side.bytes) : side);
    if (typeof text === "object") return { diff: "", omitted: text.omitted };
    texts.push(text);
  }
  return unifiedDiff(textOf(path), ...(texts as [string | undefined, string | undefined]));
}

function textIn(bytes: string): string | { readonly omitted: "binary" } {
  if (bytes.includes("\0")) return { omitted: "binary" };
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytesOf(bytes));
  } catch {
    return { omitted: "binary" };
  }
}

/** What is at a path in a directory. Undefined if there is nothing, or a directory. */
export function sideAt(root: BytePath, path: BytePath): Side | undefined {
  const opened = [OpenDirectory.open(root)];
  try {
    const names = path.split("/");
    const name = names.pop() ?? "";
    for (const each of names) opened.push((opened.at(-1) as OpenDirectory).directory(each));
    const directory = opened.at(-1) as OpenDirectory;
    const entry = directory.entry(name);
    if (!entry || entry.isDirectory()) return undefined;
    if (entry.isSymbolicLink()) return { bytes: directory.linkTarget(name) };
    if (!entry.isFile()) return { omitted: "binary" };
    if (entry.size > largestSide) return { omitted: "too_large" };
    const pieces: Buffer[] = [];
    readPieces(directory, name, (piece) => pieces.push(Buffer.from(piece)));
    return { bytes: Buffer.concat(pieces).toString("latin1") };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  } finally {
    for (const directory of opened) directory.close();
  }
}
