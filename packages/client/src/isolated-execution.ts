import type { BackgroundWork } from "./background-work.js";
import { afterCleanUp, cleanUp } from "./cleanup.js";
import type { SandboxError } from "./errors.js";
import type { ExecuteOptions } from "./execute-options.js";
import type { ExecutionResult, OutputExtent } from "./execution-result.js";
import { checkProgram, runningTimeout } from "./running-options.js";
import type { CreateSandboxOptions } from "./sandbox-creation.js";
import type { Isolation } from "./sandbox-record.js";
import type { Sandboxes } from "./sandboxes.js";

export interface IsolatedExecutionOptions
  extends Pick<ExecuteOptions, "env" | "language" | "signal" | "timeout" | "workdir">,
    Pick<
      CreateSandboxOptions,
      "egress" | "internetAccess" | "minIsolation" | "region" | "template" | "templateId"
    > {
  /** Called as each step begins, to show how far it is. */
  onStep?: ((step: IsolatedExecutionStep) => void) | undefined;
}

export type IsolatedExecutionStep = "create" | "execute" | "delete";

export interface IsolatedExecutionResult extends ExecutionResult {
  /** The sandbox it ran in, which is gone. */
  sandboxId: string;
  isolation: Isolation | undefined;
  /** Why the sandbox could not be deleted, when it could not: it lives for up to ten minutes then. */
  cleanupError: SandboxError | undefined;
}

/** Seconds. Where this process dies half-way, the sandbox ends by itself. */
const lifetime = 600;
const longestDelete = 30;

export async function executeIsolated(
  sandboxes: Sandboxes,
  background: BackgroundWork,
  code: string,
  options: IsolatedExecutionOptions & { timeout: number },
): Promise<IsolatedExecutionResult> {
  const { egress, internetAccess, minIsolation, onStep, region, signal, template, templateId, ...execution } =
    options;
  checkProgram(code, execution.language);
  runningTimeout(execution.timeout);
  const creation = { egress, internetAccess, minIsolation, region, signal, template, templateId };
  onStep?.("create");
  const sandbox = await sandboxes.create({ ...creation, timeoutSeconds: lifetime });
  const remove = async (): Promise<void> => {
    try {
      onStep?.("delete");
    } finally {
      await sandbox.delete({ requestTimeout: longestDelete });
    }
  };
  try {
    onStep?.("execute");
    const result = await sandbox.execute(code, { ...execution, signal });
    const cleanupError = await cleanUp(remove, background);
    const whole = cleanupError === undefined ? withoutSandbox(result) : result;
    return { ...whole, sandboxId: sandbox.id, isolation: sandbox.isolation, cleanupError };
  } catch (error) {
    throw await afterCleanUp(error, remove, background);
  }
}

/** Without the files that went with the sandbox. */
function withoutSandbox(result: ExecutionResult): ExecutionResult {
  const { stdout, stderr } = result.output;
  return {
    ...result,
    stdout: withoutFile(result.stdout, stdout),
    stderr: withoutFile(result.stderr, stderr),
    output: { stdout: { ...stdout, file: undefined }, stderr: { ...stderr, file: undefined } },
  };
}

/** The server's note of what it cut names the file. */
function withoutFile(text: string, { file }: OutputExtent): string {
  return file ? text.replaceAll(file, "the sandbox, which is deleted") : text;
}
