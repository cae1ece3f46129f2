/** Runs programs and waits for a limited time: a program that takes longer continues in the background. */
import type { AgentAccess } from "../agent/agent-access.js";
import type { BackgroundWork } from "../agent/background-work.js";
import { afterCleanUp } from "../agent/cleanup.js";
import { type CallOptions, requestInit } from "../config/call-options.js";
import { margin } from "../config/time-limits.js";
import { invalidArgument, TimeoutError } from "../errors/errors.js";
import { CallScope } from "../transport/calls/call-scope.js";
import { startCode, startCommand } from "./background-execution.js";
import { type commandRequest, runCommand } from "./commands.js";
import type { DetachOptions } from "./detach-options.js";
import { execute } from "./execute.js";
import type { ExecuteRequest } from "./execute-options.js";
import type { Execution } from "./execution.js";
import type { ExecutionResult, ProgramResult } from "./results/execution-result.js";
import { executeRich } from "./results/rich-execution.js";

/** The sandbox in which a program runs, as far as this module needs it. */
export interface ProgramPlace {
  readonly access: AgentAccess;
  /**
   * Isolation of the sandbox. Undefined if the server does not state it; such a server has neither contexts nor output
   * for background programs.
   */
  readonly isolation: string | undefined;
  readonly background: BackgroundWork;
}

/** Options of a run that are not part of its request. */
type RunOptions = DetachOptions & Pick<CallOptions, "signal">;

/** Checks `detachAfterSeconds` and fills in its default. */
export function detachAfter({ detachAfterSeconds = 45 }: DetachOptions): number {
  if (Number.isFinite(detachAfterSeconds) && detachAfterSeconds >= 1) return detachAfterSeconds;
  throw invalidArgument(
    `detachAfterSeconds must be a number of seconds from 1; it is ${detachAfterSeconds}.`,
  );
}

/**
 * Runs code. If it takes longer than `detachAfterSeconds`, it continues in the background and its handle is returned.
 * `body` is a checked request.
 */
export async function executeOrDetach(
  place: ProgramPlace,
  body: ExecuteRequest,
  options: RunOptions,
): Promise<ExecutionResult | Execution> {
  const seconds = detachAfter(options);
  const { access, isolation } = place;
  const { signal } = options;
  if (isolation === undefined) return execute(access.client, body, { signal });
  if (body.timeout <= seconds)
    return executeRich(access.client, body, requestInit({ signal }, body.timeout + margin));
  const { context = "default", ...request } = body;
  const start = (until: AbortSignal): Promise<Execution> =>
    startCode(access, { ...request, context }, { signal: until, requestTimeoutSeconds: seconds });
  return resultOrDetach(place, start, seconds, options);
}

/**
 * Runs a command. If it takes longer than `detachAfterSeconds`, it continues in the background and its handle is
 * returned. `body` is a checked request.
 */
export async function runOrDetach(
  place: ProgramPlace,
  body: ReturnType<typeof commandRequest>,
  options: RunOptions,
): Promise<ProgramResult | Execution> {
  const seconds = detachAfter(options);
  const { access, isolation } = place;
  const { signal } = options;
  if (body.timeout <= seconds || isolation === undefined) return runCommand(access, body, { signal });
  const start = (until: AbortSignal): Promise<Execution> => startCommand(access, body, { signal: until });
  return resultOrDetach(place, start, seconds, options);
}

/**
 * Starts a program in the background with `start`. Returns its result, or its handle if it still runs after `seconds`. If
 * `signal` fires meanwhile, the program is killed.
 */
function resultOrDetach(
  { background }: ProgramPlace,
  start: (signal: AbortSignal) => Promise<Execution>,
  seconds: number,
  { onProgress, signal }: RunOptions,
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
    throw scope.failure instanceof TimeoutError ? turnMissed(seconds) : (scope.failure ?? error);
  } finally {
    scope.end();
  }
}

function turnMissed(seconds: number): TimeoutError {
  return new TimeoutError({
    summary: `Nothing was started in ${seconds} s: other code runs in the context, or the sandbox is busy.`,
    hint: "Wait, end the code that runs in the context, or name another context.",
    kind: "request",
    code: "CONTEXT_BUSY",
  });
}
