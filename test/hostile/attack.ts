import type { ExecutionResult, Sandbox, SandboxClient } from "cloud-sandbox";
import type { LocalServer } from "../support/local-server.js";

/** What an attempt may use: a sandbox of its own, and a neighbour sandbox that belongs to somebody else. */
export interface Target {
  readonly client: SandboxClient;
  readonly sandbox: Sandbox;
  readonly neighbour: Sandbox;
  readonly server: LocalServer;
  /** A text in the host's environment, files and API key. If code in a sandbox sees it, the attempt has succeeded. */
  readonly secret: string;
  /** Absolute paths of files on the host that hold the secret. */
  readonly hostFiles: readonly string[];
  readonly isRoot: boolean;
}

export interface Attack {
  readonly name: string;
  /** Makes the attempt. Throws an assertion error if the attempt succeeds; otherwise returns what stopped it, for the printed list. */
  attempt(target: Target): Promise<string>;
}

export function bash(sandbox: Sandbox, code: string, timeout = 60): Promise<ExecutionResult> {
  return sandbox.execute(code, { language: "bash", timeoutSeconds: timeout });
}

export function python(sandbox: Sandbox, code: string, timeout = 60): Promise<ExecutionResult> {
  return sandbox.execute(code, { language: "python", timeoutSeconds: timeout });
}
