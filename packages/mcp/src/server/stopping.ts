/** How a server ends, whatever carries its messages. */

/** A client that closes stdin, or a supervisor, waits about two seconds before it kills; nothing may be left by then. */
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
