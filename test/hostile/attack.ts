import type { ExecutionResult, Sandbox, SandboxClient } from "cloud-sandbox";
import type { LocalServer } from "../support/local-server.js";

/** What an attempt may use. The sandbox is its own; the neighbour belongs to somebody else. */
export interface Target {
  readonly client: SandboxClient;
  readonly sandbox: Sandbox;
  readonly neighbour: Sandbox;
  readonly server: LocalServer;
  /** Stands in the host's environment, files and API key; it must never be seen inside. */
  readonly secret: string;
  /** Absolute paths of files on the host that hold the secret. */
  readonly hostFiles: readonly string[];
  readonly isRoot: boolean;
}

export interface Attack {
  readonly name: string;
  /** Tries; fails by an assertion when it succeeded; returns what became of it, for the list. */
  attempt(target: Target): Promise<string>;
}

export function bash(sandbox: Sandbox, code: string, timeout = 60): Promise<ExecutionResult> {
  return sandbox.execute(code, { language: "bash", timeoutSeconds: timeout });
}

export function python(sandbox: Sandbox, code: string, timeout = 60): Promise<ExecutionResult> {
  return sandbox.execute(code, { language: "python", timeoutSeconds: timeout });
}
