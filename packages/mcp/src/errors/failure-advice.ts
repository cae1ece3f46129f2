import type { Environment } from "../settings/environment.js";

/** Which step comes next after a failure, in the terms of one profile's tools. */
export interface FailureAdvice {
  /** By the error's code, else by the name of its class; `EXECUTION_TIMEOUT`, `TEMPLATE_CONFLICT` and `TOKEN_REFUSED` are kinds of their own. Empty where no tool helps. */
  readonly steps: Readonly<Record<string, string>>;
  /** After every other failure. */
  readonly otherwise: string;
  /** Said where a sandbox could not be deleted. */
  readonly leftBehind: string;
  /** What servers call what these tools do. */
  readonly terms?: ReadonlyArray<readonly [wire: RegExp, tool: string]>;
}

/** What is the same whatever the tools are. It names the variables that the server has read. */
export function generalSteps(environment: Environment): Readonly<Record<string, string>> {
  const key = variableRead(environment, "API_KEY", "BEARER_TOKEN");
  const baseUrl = variableRead(environment, "BASE_URL");
  return {
    AuthenticationError: `The user must correct ${key} in this server's configuration, or remove it to run sandboxes on this machine.`,
    NetworkError: `Call again in a moment; if it still fails, the user must check the network and ${baseUrl}, or set CLOUD_SANDBOX_BACKEND=local to run sandboxes on this machine.`,
    TimeoutError: "Call again in a few seconds.",
    ValidationError: "Correct the argument and call again.",
  };
}

/** The name of the setting that has a value, in either of its spellings; the first where none has. */
function variableRead(environment: Environment, ...settings: readonly string[]): string {
  const names = settings.flatMap((setting) => [`CLOUD_SANDBOX_${setting}`, `HOPX_${setting}`]);
  return names.find((name) => (environment[name]?.trim() ?? "") !== "") ?? names[0] ?? "";
}
