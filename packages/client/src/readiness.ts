/** How a new sandbox becomes one that can be used at once. */
import { type AgentAccess, agentUrl } from "./agent-access.js";
import { callInit } from "./call-options.js";
import { successOf } from "./contract-clients.js";
import { ApiError, NetworkError, ServerError, TimeoutError } from "./errors.js";
import type { Sandbox } from "./sandbox.js";
import type { SandboxRecord } from "./sandbox-record.js";
import type { CallScope } from "./transport/call-scope.js";

/** Asks for the sandbox's facts until it runs and has an address that its token may go to. */
export async function untilRunning(sandbox: Sandbox, scope: CallScope): Promise<void> {
  for (const delay of growingDelays()) {
    const { publicHost, status } = sandbox;
    if (status !== "running" && status !== "creating") throw failedToStart(sandbox.toJSON());
    if (status === "running" && publicHost !== undefined) {
      agentUrl(publicHost);
      return;
    }
    await scope.sleep(delay);
    await sandbox.refresh({ signal: scope.abortSignal });
  }
}

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
  const init = callInit({ signal: scope.abortSignal, requestTimeout: longestProbe });
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

function* growingDelays(): Generator<number, never, undefined> {
  for (let delay = 0.05; ; delay = Math.min(delay * 1.6, 1)) yield delay;
}

/** What gateways and agents say in the first moments of a sandbox. */
function meansNotYet(error: unknown): boolean {
  if (error instanceof NetworkError || error instanceof TimeoutError) return true;
  return error instanceof ApiError && [401, 404, 425, 502, 503, 504].includes(error.status ?? 0);
}

function failedToStart({ id, status, failureReason }: SandboxRecord): ServerError {
  const why = failureReason === undefined ? "" : `: ${failureReason}`;
  return new ServerError({
    summary: `Sandbox ${id} did not start; its status is ${status}${why}.`,
    hint: "Create another one; if it goes on failing, report the id to who runs the server.",
    code: "SANDBOX_FAILED",
    retryable: true,
  });
}
