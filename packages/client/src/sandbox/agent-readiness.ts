import type { AgentAccess } from "../agent/agent-access.js";
import { callInit } from "../config/call-options.js";
import { ApiError, NetworkError, TimeoutError } from "../errors/errors.js";
import type { CallScope } from "../transport/calls/call-scope.js";
import { successOf } from "../transport/contract-clients.js";
import { growingDelays } from "./readiness.js";

/**
 * Waits until the agent accepts the sandbox's token, and gives it the environment: for servers that answer a create
 * before that and keep its environment to themselves, as the HOPX cloud does.
 */
export async function untilPrepared(
  access: AgentAccess,
  env: Readonly<Record<string, string>>,
  scope: CallScope,
): Promise<void> {
  const agent = access.probe();
  const init = callInit({ signal: scope.abortSignal, requestTimeoutSeconds: longestProbe });
  const body = { env_vars: { ...env }, merge: true };
  const params = { query: { path: "/workspace" } };
  for (const delay of growingDelays()) {
    try {
      // Either may be repeated at will, and needs the token.
      if (Object.keys(env).length > 0) await successOf(agent.PATCH("/env", { body, ...init }));
      else await successOf(agent.GET("/files/exists", { params, ...init }));
      return;
    } catch (error) {
      if (scope.failure !== undefined || !meansNotYet(error)) throw error;
    }
    await scope.sleep(delay);
  }
}

/** Seconds. */
const longestProbe = 10;

/** What gateways and agents say in the first moments of a sandbox. */
function meansNotYet(error: unknown): boolean {
  if (error instanceof NetworkError || error instanceof TimeoutError) return true;
  return error instanceof ApiError && [401, 404, 425, 502, 503, 504].includes(error.status ?? 0);
}
