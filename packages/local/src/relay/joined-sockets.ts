import type { Socket } from "node:net";

/** Passes the bytes of each to the other, as fast as they are taken, until both have said their end or one breaks. */
export function joinSockets(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on("error", () => to.destroy());
    from.on("close", () => {
      // One that went away in the middle takes the other with it; what was said before the end still arrives.
      if (!from.readableEnded) to.destroy();
    });
  }
}
