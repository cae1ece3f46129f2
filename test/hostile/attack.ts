import type { ExecuteOptions, ExecutionResult, Sandbox, SandboxClient } from "cloud-sandbox";
import type { LocalServer } from "../support/local-server.js";

/** Where code is run: a sandbox, or without one. */
export interface Place {
  execute(
    code: string,
    options: Pick<ExecuteOptions, "language" | "timeoutSeconds">,
  ): Promise<ExecutionResult>;
}

/** What an attempt may use: a place for its code, and a neighbour sandbox that belongs to somebody else. */
export interface CodeTarget {
  readonly client: SandboxClient;
  readonly sandbox: Place;
  readonly neighbour: Sandbox;
  readonly server: LocalServer;
  /** A text in the host's environment, files and API key. If code in a sandbox sees it, the attempt has succeeded. */
  readonly secret: string;
  /** Absolute paths of files on the host that hold the secret. */
  readonly hostFiles: readonly string[];
  readonly isRoot: boolean;
  /** Whether code has no right over its agent's process. */
  readonly agentIsApart: boolean;
  /** Whether code is uid 0 of its sandbox. */
  readonly codeIsRoot: boolean;
  /** Whether processes inside are counted. Default: true. Where they are not, a sandbox that starts too many may end. */
  readonly countsProcesses?: boolean;
}

/** What an attempt may use that needs a sandbox of its own. */
export interface Target extends CodeTarget {
  readonly sandbox: Sandbox;
}

/** An attempt with code alone, which can also be made without a sandbox. */
export interface CodeAttack {
  readonly name: string;
  /** Makes the attempt. Throws an assertion error if the attempt succeeds; otherwise returns what stopped it, for the printed list. */
  attempt(target: CodeTarget): Promise<string>;
}

/** An attempt in a sandbox. */
export interface Attack {
  readonly name: string;
  /** As in {@link CodeAttack}. */
  attempt(target: Target): Promise<string>;
}

export function bash(sandbox: Place, code: string, timeout = 60): Promise<ExecutionResult> {
  return sandbox.execute(code, { language: "bash", timeoutSeconds: timeout });
}

export function python(sandbox: Place, code: string, timeout = 60): Promise<ExecutionResult> {
  return sandbox.execute(code, { language: "python", timeoutSeconds: timeout });
}
