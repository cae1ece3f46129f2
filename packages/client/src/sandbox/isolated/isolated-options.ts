import type { Isolation } from "../../config/isolation.js";
import type { SandboxError } from "../../errors/errors.js";
import type { ExecuteOptions } from "../../execution/execute-options.js";
import type { ExecutionResult } from "../../execution/results/execution-result.js";
import type { CreateSandboxOptions } from "../sandbox-creation.js";

/** Options of `executeIsolated`: some for the code, some for the sandbox created for it. */
export interface IsolatedExecutionOptions
  extends Pick<ExecuteOptions, "env" | "filename" | "language" | "signal" | "timeoutSeconds" | "workdir">,
    Pick<
      CreateSandboxOptions,
      "egress" | "internetAccess" | "minIsolation" | "region" | "template" | "templateId"
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
   * code's `timeoutSeconds` for `executeIsolatedOrDetach`. */
  cleanupError: SandboxError | undefined;
}
