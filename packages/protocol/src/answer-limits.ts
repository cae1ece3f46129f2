import { limits as contractLimits } from "./generated/limits.js";

const mebibyte = 1024 * 1024;

/**
 * Bytes of the longest answer with program output: for each of the two outputs 6 MiB, because one MiB of control
 * characters takes that much as JSON, and for displayed values twice their size.
 */
const programs = 40 * mebibyte;
const files = contractLimits.textFileBytes;
const others = 8 * mebibyte;

const limits: readonly (readonly [RegExp, number | undefined])[] = [
  [/^\/(files\/download|desktop\/|metrics\/prometheus)/, undefined],
  [/^\/files\/(read|list)$/, files],
  [/^\/(execute|execute\/rich|execute\/ipython|commands\/run|execute\/processes\/[^/]*\/output)$/, programs],
];

/**
 * The longest answer to accept from an agent's operation, in bytes. It is close to the largest that a real agent
 * sends, because a program in the sandbox may answer instead of the agent. Undefined for answers that are not JSON,
 * which are streamed.
 */
export function longestAnswer(path: string): number | undefined {
  const [bare = ""] = path.split("?", 1);
  const known = limits.find(([pattern]) => pattern.test(bare));
  return known ? known[1] : others;
}
