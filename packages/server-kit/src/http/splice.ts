import { type Duplex, pipeline } from "node:stream";

/**
 * Connects two streams: forwards bytes in both directions, no faster than the receiving stream accepts them.
 *
 * If a side ends normally, only that direction ends. If a side fails, both are destroyed.
 */
export function splice(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    pipeline(from, to, (error) => {
      if (!error) return;
      one.destroy();
      other.destroy();
    });
  }
}
