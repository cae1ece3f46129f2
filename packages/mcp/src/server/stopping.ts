/** Ends the server, over stdio and over HTTP. */

/**
 * Milliseconds for closing. Clients and supervisors wait about two seconds before they kill the process; everything
 * must be cleaned up by then.
 */
export const closeWithinMs = 1_700;

/** Resolves on the first signal that asks to stop. A second one ends the process at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
}

export function timePasses(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
