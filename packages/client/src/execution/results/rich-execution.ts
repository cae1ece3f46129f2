import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { NotFoundError } from "../../errors/errors.js";
import { type AgentClient, readBody } from "../../transport/contract-clients.js";
import type { CallInit } from "../../transport/openapi-client.js";
import { type ExecutionResult, executionResult } from "./execution-result.js";

/** The result of code, with everything that it displayed. */
export interface RichExecutionResult extends ExecutionResult {
  /** Number of displayed values left out because there were too many or they were too large. */
  richOutputsDropped: number;
}

type ExecuteBody = AgentSchemas["ExecuteRequest"];

export async function executeRich(
  agent: AgentClient,
  request: Omit<ExecuteBody, "cache">,
  init: CallInit,
): Promise<RichExecutionResult> {
  try {
    const body = { ...request, capture_rich: true };
    return await readBody(agent.POST("/execute/rich", { body, ...init }), richResult, "stdout", "exit_code");
  } catch (error) {
    if (!(error instanceof NotFoundError) || error.code === "SANDBOX_NOT_FOUND") throw error;
    // Use `/execute`: a plain 404 means that the server lacks the extension `/execute/rich`, and that nothing ran.
    return readBody(agent.POST("/execute", { body: request, ...init }), richResult, "stdout", "exit_code");
  }
}

export function richResult(wire: AgentSchemas["ExecuteRichResponse"]): RichExecutionResult {
  return { ...executionResult(wire), richOutputsDropped: wire.rich_outputs_dropped ?? 0 };
}
