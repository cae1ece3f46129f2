/** Starts programs in the background. */
import type { AgentAccess } from "../agent/agent-access.js";
import { type CallOptions, checkKnown, requestInit } from "../config/options.js";
import { isSandboxError, type SandboxError } from "../errors/errors.js";
import { CallScope } from "../transport/calls/calls.js";
import { bodyOf } from "../transport/contract-clients.js";
import type { CallInit } from "../transport/openapi-client.js";
import {
  type AsyncExecuteOptions,
  asyncRequest,
  type BackgroundExecuteOptions,
  type BackgroundOptions,
  backgroundFields,
  backgroundOptionNames,
  backgroundRequest,
} from "./background-options.js";
import { Execution } from "./execution.js";

export async function executeBackground(
  access: AgentAccess,
  code: string,
  options: BackgroundExecuteOptions,
): Promise<Execution> {
  return startCode(access, backgroundRequest(code, options), options);
}

/** Starts code in the background (POST /execute/background). `body` is a checked request. */
export function startCode(
  access: AgentAccess,
  body: ReturnType<typeof backgroundRequest>,
  options: CallOptions,
): Promise<Execution> {
  return started(access, options, async (init) => {
    const pending = access.client.POST("/execute/background", { body, ...init });
    return (await bodyOf(pending, "process_id")).process_id;
  });
}

export async function executeAsync(
  access: AgentAccess,
  code: string,
  callbackUrl: string,
  options: AsyncExecuteOptions,
): Promise<Execution> {
  const body = asyncRequest(code, callbackUrl, options);
  return started(access, options, async (init) => {
    const pending = access.client.POST("/execute/async", { body, ...init });
    // Use `execution_id`, because webhook reports contain it; some servers return a second id too.
    return (await bodyOf(pending, "execution_id")).execution_id;
  });
}

export async function runBackground(
  access: AgentAccess,
  program: { command: string; args: string[] },
  options: BackgroundOptions,
): Promise<Execution> {
  checkKnown("commands.runBackground", options, backgroundOptionNames);
  return startCommand(access, { ...program, ...backgroundFields(options) }, options);
}

/** Starts a command in the background (POST /commands/background). `body` is a checked request. */
export function startCommand(
  access: AgentAccess,
  body: { command: string; args: string[] } & ReturnType<typeof backgroundFields>,
  options: CallOptions,
): Promise<Execution> {
  return started(access, options, async (init) => {
    const pending = access.client.POST("/commands/background", { body, ...init });
    return (await bodyOf(pending, "process_id")).process_id;
  });
}

/** Milliseconds to wait for the answer after the caller's signal fired: it has the id of the program to kill. */
const lastMoment = 1000;
/** Timeout of the kill request, in seconds. */
const longestKill = 30;

/** Starts a program and returns its handle. If the caller's signal fires before that, the program is killed. */
function started(
  access: AgentAccess,
  options: CallOptions,
  start: (init: CallInit) => Promise<string>,
): Promise<Execution> {
  return access.background.during(() => startedUnlessAborted(access, options, start));
}

async function startedUnlessAborted(
  access: AgentAccess,
  { signal, ...options }: CallOptions,
  start: (init: CallInit) => Promise<string>,
): Promise<Execution> {
  const scope = new CallScope(signal);
  scope.throwIfAborted();
  const request = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  scope.addEventListener("abort", () => {
    timer = setTimeout(() => request.abort(), lastMoment);
  });
  try {
    const id = await start(requestInit({ ...options, signal: request.signal }));
    const execution = Execution.of(access, id);
    if (scope.failure !== undefined) await killFor(scope.failure, execution);
    return execution;
  } catch (error) {
    throw scope.failure ?? error;
  } finally {
    clearTimeout(timer);
    scope.end();
  }
}

async function killFor(failure: SandboxError, execution: Execution): Promise<never> {
  try {
    await execution.kill({ requestTimeoutSeconds: longestKill });
  } catch (error) {
    if (isSandboxError(error)) failure.cleanupError = error;
  }
  throw failure;
}
