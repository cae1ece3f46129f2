import { createTwoFilesPatch } from "diff";

/** Lines that differ, and milliseconds that a comparison may take. */
const mostEdits = 20_000;
const timeLimitMs = 2000;

/** Most bytes of each side of a diff. */
export const largestSide = 1024 * 1024;

export interface TextDiff {
  readonly diff: string;
  /** Why there is no diff. */
  readonly omitted?: "binary" | "too_large";
}

/** Compares two texts, of which one may be missing. `path`: without a slash at its start. May take two seconds of the processor. */
export function unifiedDiff(path: string, before: string | undefined, after: string | undefined): TextDiff {
  if ((before ?? "") === (after ?? "")) return { diff: "" };
  const name = (side: "a" | "b", text: string | undefined): string =>
    text === undefined ? "/dev/null" : quoted(`${side}/${path}`);
  const patch = createTwoFilesPatch(
    name("a", before),
    name("b", after),
    before ?? "",
    after ?? "",
    undefined,
    undefined,
    { context: 3, maxEditLength: mostEdits, timeout: timeLimitMs },
  );
  return patch === undefined
    ? { diff: "", omitted: "too_large" }
    : { diff: patch.replace(/^=+\n/, "").replace(/^((?:---|\+\+\+) .*?)\t?$/gm, "$1") };
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
