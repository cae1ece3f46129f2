import { connectionHeaders, namedByConnection } from "../relay/forwarded-headers.js";

/**
 * Removes hop-by-hop headers from raw headers (names and values in turn): the standard ones, those that `Connection`
 * names, and those in `more`.
 */
export function withoutHopByHop(rawHeaders: readonly string[], more: readonly string[] = []): string[] {
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""] as const] : [],
  );
  const named = pairs
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => [...namedByConnection(value)]);
  const dropped = new Set([...connectionHeaders, ...named, ...more]);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}
