import type { IncomingMessage, ServerResponse } from "node:http";
import { agentEnvelope, type Envelope, Problem, requestId } from "@cloud-sandbox/server-kit";
import { problemPage } from "./problem-page.js";

export interface RefusalForm {
  /** Whether a browser gets an HTML page instead of JSON. */
  readonly forPeople?: boolean;
  /** The JSON format of the error. Default: the agent's. */
  readonly envelope?: Envelope;
}

/** Answers a request with an error. If the answer has begun, the connection is cut instead. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  { forPeople = false, envelope = agentEnvelope }: RefusalForm = {},
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const problem = error instanceof Problem ? error : agentUnreadable();
  const id = requestId(undefined);
  const asPage = forPeople && (request.headers.accept ?? "").includes("text/html");
  const body = asPage
    ? problemPage(problem)
    : JSON.stringify(envelope(problem, { requestId: id, timestamp: new Date().toISOString() }));
  response.writeHead(problem.status, {
    "content-type": asPage ? "text/html; charset=utf-8" : "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": id,
    ...(forPeople && { "cache-control": "no-store" }),
    ...problem.headers,
  });
  response.end(body);
  // Read and drop the rest of the request: a client that is still sending would not read the answer.
  request.resume();
}

export const agentUnreadable = (): Problem =>
  new Problem(409, "AGENT_UNREADABLE", "The sandbox's agent sent an answer that is not HTTP.", {
    hint: "Delete the sandbox and create a new one.",
  });
