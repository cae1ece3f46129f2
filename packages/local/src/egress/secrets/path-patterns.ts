/** Spellings with which a path means another one to some servers: dots, doubled and encoded slashes, and parameters. */
const hidesAnother = /%(?:25|2e|2f|5c|00)|\/\/|\\|;|\/\.{1,2}(?:\/|$)/i;

/** Whether a path could mean another one to a server, so that no rule about paths can be kept for it. */
export const isAmbiguousPath = (path: string): boolean => !path.startsWith("/") || hidesAnother.test(path);

/** Whether a path matches a pattern: the path itself, or what all paths begin with before a `*`. */
export function matchesPath(pattern: string, path: string): boolean {
  const [one, other] = [normal(pattern), normal(path)];
  return one.endsWith("*") ? other.startsWith(one.slice(0, -1)) : other === one;
}

/** A path in the one of its spellings that has no needless escape (RFC 3986, 6.2.2). */
const normal = (path: string): string =>
  path.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });

/** Whether some path matches both patterns. */
export function pathsOverlap(one: string, other: string): boolean {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  const bare = longer.replace(/\*$/, "");
  return matchesPath(shorter, bare) || matchesPath(longer, shorter.replace(/\*$/, ""));
}
