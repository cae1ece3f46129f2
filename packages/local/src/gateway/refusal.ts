import type { IncomingMessage, ServerResponse } from "node:http";
import { agentEnvelope, Problem } from "@cloud-sandbox/protocol/server";

/** Answers with what went wrong, in the agent's words. An answer that has begun can only be broken off. */
export function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const problem =
    error instanceof Problem
      ? error
      : new Problem(
          409,
          "AGENT_UNREADABLE",
          "The sandbox's agent sent an answer that is not HTTP. Delete the sandbox and create a new one.",
        );
  const requestId = `req_${crypto.randomUUID().replaceAll("-", "")}`;
  const body = JSON.stringify(agentEnvelope(problem, { requestId, timestamp: new Date().toISOString() }));
  response.writeHead(problem.status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
    ...problem.headers,
  });
  response.end(body);
  // What the client still sends is of no use; reading it lets the answer arrive.
  request.resume();
}
