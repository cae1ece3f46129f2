import type { BackgroundWork } from "../../agent/background-work.js";
import { afterCleanUp, cleanUp } from "../../agent/cleanup.js";
import { checkKnown, type OptionNames } from "../../config/known-options.js";
import { checkFunction } from "../../config/option-checks.js";
import type { SandboxError } from "../../errors/errors.js";
import { detachAfter, executeOrDetach } from "../../execution/detach.js";
import { type DetachOptions, detachOptionNames } from "../../execution/detach-options.js";
import { execute } from "../../execution/execute.js";
import { type ExecuteRequest, executeRequest } from "../../execution/execute-options.js";
import type { Execution } from "../../execution/execution.js";
import type { ExecutionResult, OutputExtent } from "../../execution/results/execution-result.js";
import type { ControlPlaneClient } from "../../transport/contract-clients.js";
import { Sandbox } from "../sandbox.js";
import type { Sandboxes } from "../sandboxes.js";
import type { IsolatedExecutionOptions, IsolatedExecutionResult } from "./isolated-options.js";
import { executeOneShot } from "./one-shot-execution.js";

/** Code that is still running, and its sandbox, which the caller must delete. */
export interface DetachedExecution {
  kind: "execution";
  sandbox: Sandbox;
  execution: Execution;
}

/**
 * Lifetime of the sandbox in seconds; `executeIsolatedOrDetach` adds the code's time limit. If this process dies half-way,
 * the server deletes the sandbox when its lifetime ends.
 */
export const lifetime = 600;
export const longestDelete = 30;

export interface IsolatedRun extends IsolatedExecutionOptions {
  timeoutSeconds: number;
}

export async function executeIsolated(
  controlPlane: ControlPlaneClient,
  sandboxes: Sandboxes,
  background: BackgroundWork,
  code: string,
  options: IsolatedRun,
): Promise<IsolatedExecutionResult> {
  checkKnown("executeIsolated", options, isolatedOptionNames);
  const body = checkedRequest(code, options);
  const { signal } = options;
  const run = (sandbox: Sandbox): Promise<ExecutionResult> => execute(sandbox.agent, body, { signal });
  return background.whole(async () => {
    const alone = await executeOneShot(controlPlane, body, options);
    if (alone !== undefined) return alone;
    const own = await inOwnSandbox(sandboxes, background, options, lifetime, run, () => false);
    const { result, ...place } = own;
    return isolatedResult(result, place);
  });
}

export async function executeIsolatedOrDetach(
  controlPlane: ControlPlaneClient,
  sandboxes: Sandboxes,
  background: BackgroundWork,
  code: string,
  options: IsolatedRun & DetachOptions,
): Promise<IsolatedExecutionResult | DetachedExecution> {
  checkKnown("executeIsolatedOrDetach", options, { ...isolatedOptionNames, ...detachOptionNames });
  const body = checkedRequest(code, options);
  const { onProgress, signal } = options;
  const patience = detachAfter(options);
  const until = performance.now() + patience * 1000;
  // Code that may outlast the caller's time needs a sandbox, in which it can continue.
  if (body.timeout < patience) {
    const result = await background.whole(() => executeOneShot(controlPlane, body, options));
    if (result !== undefined) return result;
  }
  const run = (sandbox: Sandbox): Promise<ExecutionResult | Execution> => {
    const detachAfterSeconds = Math.max(1, (until - performance.now()) / 1000);
    return executeOrDetach(Sandbox.placeOf(sandbox), body, { detachAfterSeconds, onProgress, signal });
  };
  const longest = options.timeoutSeconds + lifetime;
  const isKept = (result: ExecutionResult | Execution): boolean => result.kind === "execution";
  const { result, ...place } = await background.whole(() =>
    inOwnSandbox(sandboxes, background, options, longest, run, isKept),
  );
  return result.kind === "result"
    ? isolatedResult(result, place)
    : { kind: "execution", sandbox: place.sandbox, execution: result };
}

export const isolatedOptionNames: OptionNames<IsolatedRun> = {
  timeoutSeconds: true,
  env: true,
  language: true,
  signal: true,
  workdir: true,
  filename: true,
  egress: true,
  internetAccess: true,
  minIsolation: true,
  region: true,
  template: true,
  templateId: true,
  onStep: true,
};

/** The request body for the code, checked before a sandbox is created for it. */
export function checkedRequest(code: string, options: IsolatedRun): ExecuteRequest {
  checkFunction("onStep", options.onStep);
  const { env, filename, language, timeoutSeconds, workdir } = options;
  return executeRequest(code, { env, filename, language, workdir }, timeoutSeconds);
}

interface Place {
  sandbox: Sandbox;
  cleanupError: SandboxError | undefined;
}

/** Creates a sandbox, calls `run` with it and deletes it, unless `isKept(result)` is true. */
async function inOwnSandbox<Result>(
  sandboxes: Sandboxes,
  background: BackgroundWork,
  options: IsolatedExecutionOptions,
  timeoutSeconds: number,
  run: (sandbox: Sandbox) => Promise<Result>,
  isKept: (result: Result) => boolean,
): Promise<Place & { result: Result }> {
  const { egress, internetAccess, minIsolation, onStep, region, signal, template, templateId } = options;
  const creation = { egress, internetAccess, minIsolation, region, signal, template, templateId };
  onStep?.("create");
  const sandbox = await sandboxes.create({ ...creation, timeoutSeconds });
  const remove = async (): Promise<void> => {
    try {
      onStep?.("delete");
    } finally {
      await sandbox.delete({ requestTimeoutSeconds: longestDelete });
    }
  };
  try {
    onStep?.("execute");
    const result = await run(sandbox);
    const cleanupError = isKept(result) ? undefined : await cleanUp(remove, background);
    return { result, sandbox, cleanupError };
  } catch (error) {
    throw await afterCleanUp(error, remove, background);
  }
}

function isolatedResult(result: ExecutionResult, { sandbox, cleanupError }: Place): IsolatedExecutionResult {
  const whole = cleanupError === undefined ? withoutSandbox(result) : result;
  return { ...whole, sandboxId: sandbox.id, isolation: sandbox.isolation, cleanupError };
}

/** The result without the paths of output files: they were deleted with the sandbox. */
function withoutSandbox(result: ExecutionResult): ExecutionResult {
  const { stdout, stderr } = result.output;
  return {
    ...result,
    stdout: withoutFile(result.stdout, stdout),
    stderr: withoutFile(result.stderr, stderr),
    output: { stdout: { ...stdout, file: undefined }, stderr: { ...stderr, file: undefined } },
  };
}

/** Replaces the file's path in the output: the server's note about cut output names the file, which is deleted. */
function withoutFile(text: string, { file }: OutputExtent): string {
  return file ? text.replaceAll(file, "the sandbox, which is deleted") : text;
}
