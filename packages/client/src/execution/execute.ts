import { type CallOptions, requestInit } from "../config/call-options.js";
import { margin } from "../config/time-limits.js";
import { type AgentClient, readBody } from "../transport/contract-clients.js";
import type { ExecuteRequest } from "./execute-options.js";
import { type ExecutionResult, executionResult } from "./results/execution-result.js";

/** Runs code and waits for its end (POST /execute). `body` is a checked request. */
export function execute(
  agent: AgentClient,
  body: ExecuteRequest,
  options: CallOptions,
): Promise<ExecutionResult> {
  const init = requestInit(options, body.timeout + margin);
  return readBody(agent.POST("/execute", { body, ...init }), executionResult, "stdout", "exit_code");
}
