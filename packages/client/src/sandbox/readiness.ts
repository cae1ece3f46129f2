/** Waits until a new sandbox can be used. */

import type { CallScope } from "../transport/calls/call-scope.js";
import type { Sandbox } from "./sandbox.js";
import { failedToStart } from "./sandbox-refusals.js";

/** Polls the control plane until the sandbox is running and has an address. Throws if its status is an unexpected one. */
export async function untilRunning(sandbox: Sandbox, scope: CallScope): Promise<void> {
  for (const delay of growingDelays()) {
    const { publicHost, status } = sandbox;
    if (status !== "running" && status !== "creating") throw failedToStart(sandbox.toJSON());
    if (status === "running" && publicHost !== undefined) return;
    await scope.sleep(delay);
    await sandbox.refresh({ signal: scope.abortSignal });
  }
}

export function* growingDelays(): Generator<number, never, undefined> {
  for (let delay = 0.05; ; delay = Math.min(delay * 1.6, 1)) yield delay;
}
