/** Waits for a program in the background for a limited time. */
import type { BackgroundWork } from "../agent/background-work.js";
import { afterCleanUp } from "../agent/cleanup.js";
import type { CallOptions } from "../config/options.js";
import { TimeoutError } from "../errors/errors.js";
import { CallScope } from "../transport/calls/calls.js";
import type { DetachOptions } from "./execute-options.js";
import type { Execution } from "./execution.js";
import type { ExecutionResult } from "./results/execution-result.js";

/**
 * Starts a program in the background with `start`. Returns its result, or its handle if it still runs after `seconds`. If
 * `signal` fires meanwhile, the program is killed.
 */
export function resultOrDetach(
  background: BackgroundWork,
  start: (signal: AbortSignal) => Promise<Execution>,
  seconds: number,
  { onProgress, signal }: DetachOptions & Pick<CallOptions, "signal">,
): Promise<ExecutionResult | Execution> {
  return background.during(async () => {
    const until = performance.now() + seconds * 1000;
    const execution = await started(start, seconds, signal);
    try {
      const end = await execution.waitAtMost((until - performance.now()) / 1000, { onProgress, signal });
      return end === undefined ? execution : await execution.result({ signal });
    } catch (error) {
      const kill = (): Promise<void> => execution.kill({ requestTimeoutSeconds: longestKill });
      throw await afterCleanUp(error, kill, background);
    }
  });
}

const longestKill = 30;

async function started(
  start: (signal: AbortSignal) => Promise<Execution>,
  seconds: number,
  signal: AbortSignal | undefined,
): Promise<Execution> {
  const scope = new CallScope(signal);
  scope.limit({ seconds, kind: "request", passed: "The program was not started" });
  try {
    return await start(scope.abortSignal);
  } catch (error) {
    throw scope.failure instanceof TimeoutError ? notStartedInTime(seconds) : (scope.failure ?? error);
  } finally {
    scope.end();
  }
}

function notStartedInTime(seconds: number): TimeoutError {
  return new TimeoutError({
    summary: `Nothing was started in ${seconds} s: other code runs in the context, or the sandbox is busy.`,
    hint: "Wait, end the code that runs in the context, or name another context.",
    kind: "request",
    code: "CONTEXT_BUSY",
  });
}
