import type { ServerResponse } from "node:http";
import { agentEnvelope, type Problem, Reply, requestId } from "@cloud-sandbox/server-kit";

/** Builds the HTTP reply for a request that is refused before the router and its handlers see it. */
export function refusal(problem: Problem): Reply<string> {
  const id = requestId(undefined);
  const body = agentEnvelope(problem, { requestId: id, timestamp: new Date().toISOString() });
  const headers = { "content-type": "application/json", "x-request-id": id, ...problem.headers };
  return new Reply(JSON.stringify(body), headers, problem.status);
}

export function answer(response: ServerResponse, { status, headers, body = "" }: Reply): void {
  response.writeHead(status, headers);
  response.end(body);
}
