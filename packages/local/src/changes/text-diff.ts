import { createTwoFilesPatch } from "diff";
import { type BytePath, textOf } from "./byte-path.js";
import { readPieces } from "./file-content.js";
import { OpenDirectory } from "./open-directory.js";

/** Bytes of each side, lines that differ, and milliseconds that a comparison may take. */
const largestSide = 1024 * 1024;
const mostEdits = 20_000;
const timeLimitMs = 2000;

export interface TextDiff {
  readonly diff: string;
  /** Why there is no diff. */
  readonly omitted?: "binary" | "too_large";
}

/** Compares what is at a path in two directories: the text of files, and targets of links. Undefined if neither has it. */
export function textDiff(oldRoot: BytePath, newRoot: BytePath, path: BytePath): TextDiff | undefined {
  const before = sideOf(oldRoot, path);
  const after = sideOf(newRoot, path);
  if (before === undefined && after === undefined) return undefined;
  const sides = [before ?? "", after ?? ""] as const;
  for (const side of sides) if (typeof side === "object") return { diff: "", omitted: side.omitted };
  const [oldText, newText] = sides as readonly [string, string];
  if (oldText === newText) return { diff: "" };
  const name = (side: "a" | "b", content: unknown): string =>
    content === undefined ? "/dev/null" : quoted(`${side}/${textOf(path)}`);
  const patch = createTwoFilesPatch(
    name("a", before),
    name("b", after),
    oldText,
    newText,
    undefined,
    undefined,
    {
      context: 3,
      maxEditLength: mostEdits,
      timeout: timeLimitMs,
    },
  );
  return patch === undefined
    ? { diff: "", omitted: "too_large" }
    : { diff: patch.replace(/^=+\n/, "").replace(/^((?:---|\+\+\+) .*?)\t?$/gm, "$1") };
}

type Side = string | { readonly omitted: "binary" | "too_large" };

function sideOf(root: BytePath, path: BytePath): Side | undefined {
  const opened = [OpenDirectory.open(root)];
  try {
    const names = path.split("/");
    const name = names.pop() ?? "";
    for (const each of names) opened.push((opened.at(-1) as OpenDirectory).directory(each));
    const directory = opened.at(-1) as OpenDirectory;
    const entry = directory.entry(name);
    if (!entry || entry.isDirectory()) return undefined;
    if (entry.isSymbolicLink()) return textOf(directory.linkTarget(name));
    if (!entry.isFile()) return { omitted: "binary" };
    if (entry.size > largestSide) return { omitted: "too_large" };
    const pieces: Buffer[] = [];
    readPieces(directory, name, (piece) => pieces.push(Buffer.from(piece)));
    const content = Buffer.concat(pieces);
    if (content.includes(0)) return { omitted: "binary" };
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    } catch {
      return { omitted: "binary" };
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  } finally {
    for (const directory of opened) directory.close();
  }
}

/** A name for the header of a diff, where a line break or an escape sequence could pass for something else. */
const quoted = (name: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u001f"\\\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/.test(name)
    ? escaped(name)
    : name;

function escaped(name: string): string {
  const text = JSON.stringify(name).replace(
    /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return text;
}
