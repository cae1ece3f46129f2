import { type Duplex, pipeline } from "node:stream";

/**
 * Makes one connection of two: bytes go through as they come, no faster than they are taken, in both directions.
 *
 * A side that has said all it had to ends that direction only. A side that breaks off takes the other with it.
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
