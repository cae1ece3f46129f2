import type { Isolation } from "../../config/isolation.js";
import { checkFunction, type OptionNames } from "../../config/options.js";
import type { SandboxError } from "../../errors/errors.js";
import {
  callbackNames,
  type DetachOptions,
  detachOptionNames,
  type ExecuteOptions,
  type ExecuteRequest,
  executeRequest,
  type OutputCallbacks,
} from "../../execution/execute-options.js";
import type { Execution } from "../../execution/execution.js";
import type { ExecutionResult } from "../../execution/results/execution-result.js";
import type { Sandbox } from "../sandbox.js";
import type { CreateSandboxOptions } from "../sandbox-creation.js";

/** Options of `executeIsolated`: some for the code, some for the sandbox created for it. */
export interface IsolatedExecutionOptions
  extends StreamIsolatedOptions,
    OutputCallbacks,
    DetachOptions,
    Pick<ExecuteOptions, "onDisplay"> {}

/** Options of `executeIsolatedStream`. */
export interface StreamIsolatedOptions
  extends Pick<
      ExecuteOptions,
      "env" | "filename" | "language" | "signal" | "stdin" | "timeoutSeconds" | "workdir"
    >,
    Pick<
      CreateSandboxOptions,
      "egress" | "internetAccess" | "minIsolation" | "region" | "secrets" | "template" | "templateId"
    > {
  /** Called when each step begins, to show progress. */
  onStep?: ((step: IsolatedExecutionStep) => void) | undefined;
}

/** A step of `executeIsolated`. Where the server needs no sandbox for the code, `execute` is the only one. */
export type IsolatedExecutionStep = "create" | "execute" | "delete";

/** Result of `executeIsolated`. */
export interface IsolatedExecutionResult extends ExecutionResult {
  /** Id of the sandbox that the code ran in, or of the code if it needed none. It is gone, unless `cleanupError` is set. */
  sandboxId: string;
  isolation: Isolation | undefined;
  /** Why the sandbox could not be deleted, if that failed. It then ends by itself within ten minutes of its creation, plus the
   * code's `timeoutSeconds` with `detachAfterSeconds`. */
  cleanupError: SandboxError | undefined;
}

/** Code that is still running after `detachAfterSeconds`, and its sandbox, which the caller must delete. */
export interface DetachedExecution {
  kind: "execution";
  sandbox: Sandbox;
  execution: Execution;
}

/**
 * Lifetime of the sandbox in seconds; with `detachAfterSeconds`, the code's time limit is added. If this process dies half-way,
 * the server deletes the sandbox when its lifetime ends.
 */
export const lifetime = 600;
export const longestDelete = 30;

export interface IsolatedRun extends IsolatedExecutionOptions {
  timeoutSeconds: number;
}

export const streamIsolatedNames: OptionNames<StreamIsolatedOptions> = {
  timeoutSeconds: true,
  env: true,
  language: true,
  signal: true,
  stdin: true,
  workdir: true,
  filename: true,
  egress: true,
  internetAccess: true,
  minIsolation: true,
  region: true,
  secrets: true,
  template: true,
  templateId: true,
  onStep: true,
};

export const isolatedOptionNames: OptionNames<IsolatedRun> = {
  ...streamIsolatedNames,
  ...callbackNames,
  ...detachOptionNames,
  onDisplay: true,
};

/** The request body for the code, checked before a sandbox is created for it. */
export function checkedRequest(code: string, options: IsolatedRun): ExecuteRequest {
  checkFunction("onStep", options.onStep);
  return executeRequest(code, options, options.timeoutSeconds);
}
