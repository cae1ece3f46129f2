/** Runs programs and waits for a limited time: a program that takes longer continues in the background. */
import type { BackgroundWork } from "../agent/background-work.js";
import { afterCleanUp } from "../agent/cleanup.js";
import { runningTimeout } from "../config/time-limits.js";
import { invalidArgument, TimeoutError } from "../errors/errors.js";
import { CallScope } from "../transport/calls/call-scope.js";
import type { BackgroundExecuteOptions } from "./background-options.js";
import type { Commands } from "./commands.js";
import { type ExecuteOptions, executeRequest } from "./execute-options.js";
import type { Execution, WaitOptions } from "./execution.js";
import type { ExecutionResult, ProgramResult } from "./execution-result.js";
import type { RunningOptions } from "./running-options.js";

/** How long to wait for a program before it continues in the background. */
export interface DetachOptions {
  /** Seconds to wait, 1 or more. Default 45, because many callers have a limit of one minute themselves. */
  detachAfterSeconds?: number | undefined;
  /** Called every two seconds with the program's progress. */
  onProgress?: WaitOptions["onProgress"];
}

/** What runs the programs: the methods of `Sandbox` used here. */
export interface ProgramRunner {
  readonly commands: Commands;
  readonly isolation: string | undefined;
  execute(code: string, options: ExecuteOptions): Promise<ExecutionResult>;
  executeRich(code: string, options: Omit<ExecuteOptions, "cache">): Promise<ExecutionResult>;
  executeBackground(code: string, options: BackgroundExecuteOptions): Promise<Execution>;
}

/** The checked `detachAfterSeconds`. */
export function detachAfter({ detachAfterSeconds = 45 }: DetachOptions): number {
  if (Number.isFinite(detachAfterSeconds) && detachAfterSeconds >= 1) return detachAfterSeconds;
  throw invalidArgument(
    `detachAfterSeconds must be a number of seconds from 1; it is ${detachAfterSeconds}.`,
  );
}

export async function executeOrDetach(
  sandbox: ProgramRunner,
  code: string,
  options: Omit<ExecuteOptions, "cache" | "requestTimeoutSeconds"> & DetachOptions,
  defaultTimeout: number,
  background: BackgroundWork,
): Promise<ExecutionResult | Execution> {
  const { detachAfterSeconds: _, onProgress, signal, ...request } = options;
  const seconds = detachAfter(options);
  const { context = "default", timeout } = executeRequest(code, request, defaultTimeout);
  if (sandbox.isolation === undefined) return sandbox.execute(code, { ...request, signal });
  if (timeout <= seconds) return sandbox.executeRich(code, { ...request, signal });
  const start = (until: AbortSignal): Promise<Execution> =>
    sandbox.executeBackground(code, {
      ...request,
      context,
      timeoutSeconds: timeout,
      signal: until,
      requestTimeoutSeconds: seconds,
    });
  return background.during(() => resultOrDetach(start, seconds, { onProgress, signal }, background));
}

export async function runOrDetach(
  sandbox: ProgramRunner,
  command: string | readonly string[],
  options: Omit<RunningOptions, "requestTimeoutSeconds"> & DetachOptions,
  defaultTimeout: number,
  background: BackgroundWork,
): Promise<ProgramResult | Execution> {
  const { detachAfterSeconds: _, onProgress, signal, ...request } = options;
  const seconds = detachAfter(options);
  const timeout = runningTimeout(request.timeoutSeconds ?? defaultTimeout);
  if (timeout <= seconds || sandbox.isolation === undefined)
    return sandbox.commands.run(command, { ...request, signal });
  const start = (until: AbortSignal): Promise<Execution> =>
    sandbox.commands.runBackground(command, { ...request, timeoutSeconds: timeout, signal: until });
  return background.during(() => resultOrDetach(start, seconds, { onProgress, signal }, background));
}

/**
 * Starts a program in the background with `start`. Returns its result, or its handle if it still runs after `seconds`. If
 * `signal` fires meanwhile, the program is killed.
 */
async function resultOrDetach(
  start: (signal: AbortSignal) => Promise<Execution>,
  seconds: number,
  { onProgress, signal }: WaitOptions,
  background: BackgroundWork,
): Promise<ExecutionResult | Execution> {
  const until = performance.now() + seconds * 1000;
  const execution = await started(start, seconds, signal);
  try {
    const end = await execution.waitAtMost((until - performance.now()) / 1000, { onProgress, signal });
    return end === undefined ? execution : await execution.result({ signal });
  } catch (error) {
    throw await afterCleanUp(error, () => execution.kill({ requestTimeoutSeconds: longestKill }), background);
  }
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
    throw scope.failure instanceof TimeoutError ? turnMissed(seconds) : (scope.failure ?? error);
  } finally {
    scope.end();
  }
}

function turnMissed(seconds: number): TimeoutError {
  return new TimeoutError({
    summary: `Other code runs in the context for ${seconds} s already, so nothing was started.`,
    hint: "Wait for it, end it, or name another context.",
    kind: "request",
    code: "CONTEXT_BUSY",
  });
}
