import type { Socket } from "node:net";

/** Pipes two sockets into each other, with backpressure, until both directions have ended or one socket breaks. */
export function joinSockets(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on("error", () => to.destroy());
    from.on("close", () => {
      // A socket that closed without an end broke: close the other one too. After a proper end, pending bytes still arrive.
      if (!from.readableEnded) to.destroy();
    });
  }
}
