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

/** Texts up to this length are parsed quickly, whatever they contain. */
const smallText = 64 * 1024;

/**
 * Limits above what agents send. A listing of 90,000 files has that many objects with a dozen values each; a
 * displayed table has more values than names. Parsing costs about a microsecond for each property name not seen
 * before, and 100 bytes for each object.
 */
const mostContainers = 250_000;
const mostNames = 1_000_000;
const mostValues = 5_000_000;
/** Deepest nesting: serializing a deeper value again would overflow the stack. */
const deepest = 1000;

const [quote, comma, colon, backslash] = [34, 44, 58, 92];
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125];

/**
 * Whether parsing `text` as JSON takes time and memory in proportion to its length. A few megabytes of empty objects
 * can take gigabytes and minutes; long strings take no more than their own size. Check this before parsing text that
 * a program in a sandbox may have written.
 */
export function isModestJson(text: string): boolean {
  if (text.length <= smallText) return true;
  let [depth, containers, names, values] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === comma) values += 1;
    else if (code === colon) names += 1;
    else if (code === openList || code === openObject) {
      containers += 1;
      depth += 1;
      if (containers > mostContainers || depth > deepest) return false;
    } else if (code === closeList || code === closeObject) depth -= 1;
    if (values > mostValues || names > mostNames) return false;
  }
  return true;
}

function endOfString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1);
  if (end === -1) return text.length;
  if (text.charCodeAt(end - 1) !== backslash) return end;
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === backslash) at += 1;
    else if (code === quote) return at;
  }
  return text.length;
}
