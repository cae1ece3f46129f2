import type { Socket } from "node:net";

/** Destroys a socket that is still connecting when `signal` aborts. The returned function stops listening to the signal. */
export function destroyOnAbort(
  signal: AbortSignal,
  socket: Socket,
  onAborted: (reason: unknown) => void,
): () => void {
  const destroy = (): void => {
    socket.destroy();
    onAborted(signal.reason);
  };
  if (signal.aborted) destroy();
  signal.addEventListener("abort", destroy);
  return () => signal.removeEventListener("abort", destroy);
}
