import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { NotFoundError } from "../errors/errors.js";
import { type AgentClient, readBody } from "../transport/contract-clients.js";
import type { CallInit } from "../transport/http/light-request.js";
import { DisplayedValue } from "./displayed-value.js";
import { type ExecutionResult, executionResult } from "./execution-result.js";

/** How code ended, and everything that it displayed. */
export interface RichExecutionResult extends ExecutionResult {
  /** In the order in which they were displayed; at most 64 of them, and 8 MiB. */
  richOutputs: DisplayedValue[];
  /** Displayed values that were left out because they were too many or too large. */
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
    return await readBody(agent.POST("/execute/rich", { body, ...init }), rich, "stdout", "exit_code");
  } catch (error) {
    if (!(error instanceof NotFoundError) || error.code === "SANDBOX_NOT_FOUND") throw error;
    // Nothing ran: the server does not know the operation, which is an addition of ours.
    return readBody(agent.POST("/execute", { body: request, ...init }), rich, "stdout", "exit_code");
  }
}

function rich(wire: AgentSchemas["ExecuteRichResponse"]): RichExecutionResult {
  const result = executionResult(wire);
  return {
    ...result,
    richOutputs: result.richOutputs.map(DisplayedValue.of),
    richOutputsDropped: wire.rich_outputs_dropped ?? 0,
  };
}
