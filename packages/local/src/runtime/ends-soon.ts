import type { Machine } from "./sandbox-runtime.js";

/** A machine's sockets close before its `exited` settles. */
const exitNoticeMs = 500;

/** Whether a machine has ended, or is about to: the reason why a connection to it broke off. */
export function endsSoon({ exited }: Machine): Promise<boolean> {
  return Promise.race([
    exited.then(() => true),
    new Promise<false>((resolve) => setTimeout(() => resolve(false), exitNoticeMs)),
  ]);
}
