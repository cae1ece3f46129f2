/** Runs code in one request, over a stream, or in the background: whatever the options of the call need. */
import type { AgentAccess } from "../agent/agent-access.js";
import { margin, omitUndefined, requestInit } from "../config/options.js";
import { NotFoundError } from "../errors/errors.js";
import { readBody } from "../transport/contract-clients.js";
import { startCode } from "./background-execution.js";
import { resultOrDetach } from "./detach.js";
import { checkStdin, type ExecuteOptions, type ExecuteRequest, isStreamed } from "./execute-options.js";
import type { Execution } from "./execution.js";
import { streamedCode } from "./live-run.js";
import { type ExecutionResult, executionResult } from "./results/execution-result.js";

/** The agents without the extension `/execute/rich`. */
const withoutRich = new WeakSet<AgentAccess>();

/** Runs code and waits for its end, or as long as `detachAfterSeconds` says. `body` is a checked request. */
export async function execute(
  access: AgentAccess,
  body: ExecuteRequest,
  options: Omit<ExecuteOptions, "env">,
): Promise<ExecutionResult | Execution> {
  checkStdin(body, access.isExtended);
  const { detachAfterSeconds: seconds } = options;
  // A server without this project's extensions has neither contexts nor output for background programs.
  if (seconds !== undefined && access.isExtended && body.timeout > seconds) {
    const { cache: _cache, ...program } = body;
    const context = body.stdin === undefined ? (body.context ?? "default") : undefined;
    const request = { ...program, ...omitUndefined({ context }) };
    const start = (signal: AbortSignal): Promise<Execution> =>
      startCode(access, request, { signal, requestTimeoutSeconds: seconds });
    const end = await resultOrDetach(access.background, start, seconds, options);
    return end.kind === "execution" ? end : { ...end, language: body.language };
  }
  if (isStreamed(options)) return streamedCode(access, body, options);
  return inOneRequest(access, body, options);
}

/** POST /execute/rich, the only operation that gives all displayed values in order; else POST /execute. */
async function inOneRequest(
  access: AgentAccess,
  body: ExecuteRequest,
  options: Pick<ExecuteOptions, "signal" | "requestTimeoutSeconds">,
): Promise<ExecutionResult> {
  const { client } = access;
  const init = requestInit(options, body.timeout + margin);
  if (!withoutRich.has(access)) {
    try {
      const pending = client.POST("/execute/rich", { body: { ...body, capture_rich: true }, ...init });
      return await readBody(pending, executionResult, "stdout", "exit_code");
    } catch (error) {
      if (!(error instanceof NotFoundError) || error.code === "SANDBOX_NOT_FOUND") throw error;
      // A plain 404 means that the server lacks the operation, and that nothing ran.
    }
  }
  const pending = client.POST("/execute", { body, ...init });
  const result = await readBody(pending, executionResult, "stdout", "exit_code");
  withoutRich.add(access);
  return result;
}
