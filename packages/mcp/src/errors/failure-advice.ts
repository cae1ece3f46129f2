import type { Environment } from "../settings.js";

/** What to do after a failure, in the names of one profile's tools. */
export interface FailureAdvice {
  /**
   * Advice by the error's code, else by the name of its class. The keys `EXECUTION_TIMEOUT`, `TEMPLATE_CONFLICT` and
   * `TOKEN_REFUSED` are this server's own. An empty text means that no tool helps.
   */
  readonly steps: Readonly<Record<string, string>>;
  /** Advice for every failure that `steps` does not list. */
  readonly otherwise: string;
  /** Advice that is added when a sandbox could not be deleted. */
  readonly leftBehind: string;
  /** Pairs of the service's name for an operation, and the tool that does the same. */
  readonly terms?: ReadonlyArray<readonly [wire: RegExp, tool: string]>;
}

/**
 * Advice that is the same for all profiles. It names the environment variables from which the server read its settings.
 */
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

/** The environment variable that sets one of these settings, in either of its spellings. The first one when none is set. */
function variableRead(environment: Environment, ...settings: readonly string[]): string {
  const names = settings.flatMap((setting) => [`CLOUD_SANDBOX_${setting}`, `HOPX_${setting}`]);
  return names.find((name) => (environment[name]?.trim() ?? "") !== "") ?? names[0] ?? "";
}
