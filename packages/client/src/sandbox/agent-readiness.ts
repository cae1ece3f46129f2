import type { AgentAccess } from "../agent/agent-access.js";
import { callInit } from "../config/call-options.js";
import { ApiError, NetworkError, TimeoutError } from "../errors/errors.js";
import type { CallScope } from "../transport/calls/call-scope.js";
import { successOf } from "../transport/contract-clients.js";
import { growingDelays } from "./readiness.js";

/**
 * Waits until the sandbox's agent accepts the sandbox's token, and sends it the environment variables. Only for servers,
 * such as the HOPX cloud, that answer "create sandbox" before the agent is ready and do not pass `env_vars` on to the
 * agent.
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
      // Both requests are idempotent, so they can be repeated, and both need the token, so success proves that it works.
      if (Object.keys(env).length > 0) await successOf(agent.PATCH("/env", { body, ...init }));
      else await successOf(agent.GET("/files/exists", { params, ...init }));
      return;
    } catch (error) {
      if (scope.failure !== undefined || !meansNotYet(error)) throw error;
    }
    await scope.sleep(delay);
  }
}

/** Timeout of one readiness request, in seconds. */
const longestProbe = 10;

/** Whether the error is one that gateways and agents give while a sandbox is still starting. */
function meansNotYet(error: unknown): boolean {
  if (error instanceof NetworkError || error instanceof TimeoutError) return true;
  return error instanceof ApiError && [401, 404, 425, 502, 503, 504].includes(error.status ?? 0);
}
