import type { Socket } from "node:net";

/** Destroys a socket that is being connected when `signal` aborts. The function it gives ends the watch, not the socket. */
export function abandonOn(
  signal: AbortSignal,
  socket: Socket,
  abandoned: (reason: unknown) => void,
): () => void {
  const abandon = (): void => {
    socket.destroy();
    abandoned(signal.reason);
  };
  if (signal.aborted) abandon();
  signal.addEventListener("abort", abandon);
  return () => signal.removeEventListener("abort", abandon);
}
