/** Spellings with which a path means another one to some servers: dots, doubled and encoded slashes, and parameters. */
const hidesAnother = /%(?:25|2e|2f|5c|00)|\/\/|\\|;|\/\.{1,2}(?:\/|$)/i;

/** Whether a path could mean another one to a server, so that no rule about paths can be kept for it. */
export const isAmbiguousPath = (path: string): boolean => !path.startsWith("/") || hidesAnother.test(path);

/** Whether a path matches a pattern: the path itself, or what all paths begin with before a `*`. */
export function matchesPath(pattern: string, path: string): boolean {
  return pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

/** Whether some path matches both patterns. */
export function pathsOverlap(one: string, other: string): boolean {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  const bare = longer.replace(/\*$/, "");
  return matchesPath(shorter, bare) || matchesPath(longer, shorter.replace(/\*$/, ""));
}
