import type { IncomingMessage, ServerResponse } from "node:http";
import { agentEnvelope, type Envelope, Problem, requestId } from "@cloud-sandbox/server-kit";

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

/** A problem as an HTML page, for browsers. */
export function problemPage({ message, code }: Problem): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${inMarkup(code)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 36em; margin: 15vh auto; padding: 0 1em; color-scheme: light dark }
code { opacity: .6 }
</style>
<p>${inMarkup(message)}</p>
<p><code>${inMarkup(code)}</code></p>
</html>
`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const inMarkup = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] ?? "");

/** The problem for a port that the agent did not open. The agent's own text is not shown, because code in the sandbox may have written it. */
export function portClosed(port: number, status: number | undefined): Problem {
  switch (status) {
    case 401: {
      const message = "The token belongs to no sandbox or to another one, or has expired.";
      return new Problem(401, "INVALID_TOKEN", message, {
        hint: "Get this sandbox's token from the control plane.",
        headers: { "www-authenticate": "Bearer" },
      });
    }
    case 404: {
      const message = `Nothing listens on port ${port} of this sandbox.`;
      return new Problem(404, "PORT_NOT_LISTENING", message, {
        hint: "Start a server on the port, or check which port the server uses.",
        details: { port },
      });
    }
    case 403:
      return new Problem(
        403,
        "PORT_NOT_ALLOWED",
        `Port ${port} belongs to the sandbox's agent. Let your server listen on another port.`,
      );
    case 429: {
      const message = "Too many connections to ports of this sandbox are open.";
      return new Problem(429, "RESOURCE_EXHAUSTED", message, {
        hint: "Close some connections to ports of the sandbox first.",
        headers: { "retry-after": "1" },
      });
    }
    default:
      return agentUnreadable();
  }
}
