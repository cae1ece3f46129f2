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
    text === undefined ? "/dev/null" : `${side}/${path}`;
  const patch = createTwoFilesPatch(
    name("a", before),
    name("b", after),
    before ?? "",
    after ?? "",
    undefined,
    undefined,
    { context: 3, maxEditLength: mostEdits, timeout: timeLimitMs },
  );
  return patch === undefined ? { diff: "", omitted: "too_large" } : { diff: patch.replace(/^=+\n/, "") };
}
