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
      // If a socket closed before its end was read, the connection broke: destroy the other socket too.
      if (!from.readableEnded) to.destroy();
    });
  }
}
