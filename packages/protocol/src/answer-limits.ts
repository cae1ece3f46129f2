const mebibyte = 1024 * 1024;

/** An output's megabyte takes six times as much as JSON where it is all control characters; values that were displayed take twice theirs. */
const programs = 40 * mebibyte;
const files = 64 * mebibyte;
const others = 8 * mebibyte;

const limits: readonly (readonly [RegExp, number | undefined])[] = [
  [/^\/(files\/download|desktop\/|metrics\/prometheus)/, undefined],
  [/^\/files\/(read|list)$/, files],
  [/^\/(execute|execute\/rich|execute\/ipython|commands\/run|execute\/processes\/[^/]*\/output)$/, programs],
];

/**
 * Bytes that the answer of an agent's operation may take, near the most that a real one sends: what answers may be a program of the
 * sandbox. Undefined for what is no JSON, which is read bit by bit.
 */
export function longestAnswer(path: string): number | undefined {
  const [bare = ""] = path.split("?", 1);
  const known = limits.find(([pattern]) => pattern.test(bare));
  return known ? known[1] : others;
}
