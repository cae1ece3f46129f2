import { type Duplex, pipeline } from "node:stream";

/**
 * Connects two streams: forwards bytes in both directions, no faster than the receiving stream accepts them.
 *
 * If a side ends normally, only that direction ends, and with `lingerMs` the other one has so many milliseconds to end too. If a
 * side fails, both are destroyed.
 */
export function splice(one: Duplex, other: Duplex, { lingerMs }: { readonly lingerMs?: number } = {}): void {
  const destroy = (): void => {
    one.destroy();
    other.destroy();
  };
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    pipeline(from, to, (error) => {
      if (error) destroy();
      else if (lingerMs !== undefined) setTimeout(destroy, lingerMs).unref();
    });
  }
}
