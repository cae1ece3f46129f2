import type { BackgroundWork } from "../../agent/background-work.js";
import { afterCleanUp, cleanUp } from "../../agent/cleanup.js";
import { checkKnown } from "../../config/options.js";
import type { SandboxError } from "../../errors/errors.js";
import { execute } from "../../execution/execute.js";
import { isStreamed } from "../../execution/execute-options.js";
import type { Execution } from "../../execution/execution.js";
import { readLive } from "../../execution/live-run.js";
import type { ExecutionResult, OutputExtent } from "../../execution/results/execution-result.js";
import type { ControlPlaneClient } from "../../transport/contract-clients.js";
import { Sandbox } from "../sandbox.js";
import type { Sandboxes } from "../sandboxes.js";
import {
  checkedRequest,
  type DetachedExecution,
  type IsolatedExecutionOptions,
  type IsolatedExecutionResult,
  type IsolatedRun,
  isolatedOptionNames,
  lifetime,
  longestDelete,
} from "./isolated-options.js";
import { executeOneShot } from "./one-shot-execution.js";

export async function executeIsolated(
  controlPlane: ControlPlaneClient,
  sandboxes: Sandboxes,
  background: BackgroundWork,
  code: string,
  options: IsolatedRun,
): Promise<IsolatedExecutionResult | DetachedExecution> {
  checkKnown("executeIsolated", options, isolatedOptionNames);
  const body = checkedRequest(code, options);
  if (isStreamed(options)) {
    const { readIsolated } = await import("./isolated-reading.js");
    const { onDisplay, onStderr, onStdout, ...program } = options;
    const open = (signal: AbortSignal) =>
      readIsolated(controlPlane, sandboxes, background, code, { ...program, signal });
    const { signal } = options;
    const result = await readLive(open, { onDisplay, onStderr, onStdout, signal });
    return { ...result, language: body.language, cached: false };
  }
  const { detachAfterSeconds: detachAfter, onProgress, signal } = options;
  const until = performance.now() + (detachAfter ?? 0) * 1000;
  // Code that may outlast the caller's time needs a sandbox, in which it can continue.
  if (detachAfter === undefined || body.timeout < detachAfter) {
    const result = await background.whole(() => executeOneShot(controlPlane, body, options));
    if (result !== undefined) return result;
  }
  const run = (sandbox: Sandbox): Promise<ExecutionResult | Execution> => {
    const left = Math.max(1, (until - performance.now()) / 1000);
    const detachAfterSeconds = detachAfter === undefined ? undefined : left;
    return execute(Sandbox.accessOf(sandbox), body, { detachAfterSeconds, onProgress, signal });
  };
  const longest = detachAfter === undefined ? lifetime : lifetime + options.timeoutSeconds;
  const { result, ...used } = await background.whole(() =>
    inOwnSandbox(sandboxes, background, options, longest, run),
  );
  return result.kind === "result"
    ? isolatedResult(result, used)
    : { kind: "execution", sandbox: used.sandbox, execution: result };
}

interface UsedSandbox {
  sandbox: Sandbox;
  cleanupError: SandboxError | undefined;
}

/** Creates a sandbox, calls `run` with it and deletes it, unless the code continues in it. */
async function inOwnSandbox(
  sandboxes: Sandboxes,
  background: BackgroundWork,
  options: IsolatedExecutionOptions,
  timeoutSeconds: number,
  run: (sandbox: Sandbox) => Promise<ExecutionResult | Execution>,
): Promise<UsedSandbox & { result: ExecutionResult | Execution }> {
  const { egress, internetAccess, minIsolation, onStep, region, secrets, signal, template, templateId } =
    options;
  const creation = { egress, internetAccess, minIsolation, region, secrets, signal, template, templateId };
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
    const cleanupError = result.kind === "execution" ? undefined : await cleanUp(remove, background);
    return { result, sandbox, cleanupError };
  } catch (error) {
    throw await afterCleanUp(error, remove, background);
  }
}

function isolatedResult(
  result: ExecutionResult,
  { sandbox, cleanupError }: UsedSandbox,
): IsolatedExecutionResult {
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
