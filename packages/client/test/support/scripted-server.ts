import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request as the server saw it. */
export interface SeenRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  text: string;
  json: Record<string, unknown>;
}

export type Handler = (request: SeenRequest, response: ServerResponse) => unknown;

/** A real HTTP server on loopback that does what a test tells it, right or wrong. */
export interface ScriptedServer {
  url: string;
  /** All requests so far, whole or not. */
  requests: SeenRequest[];
  /** "METHOD /path" of all requests so far. */
  calls(): string[];
  /** Ends all connections. */
  drop(): void;
}

export async function scriptedServer(handler: Handler): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  const server = createServer((message, response) => {
    void read(message).then(
      (request) => {
        requests.push(request);
        return handler(request, response);
      },
      // Callers that give up hang up.
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    drop: () => server.closeAllConnections(),
    calls: () => requests.map(({ method, path }) => `${method} ${path}`),
  };
}

export function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** Answers in turn; the last one goes on answering. */
export function inTurn(...handlers: [Handler, ...Handler[]]): Handler {
  let turn = 0;
  return (request, response) => (handlers[turn++] ?? handlers.at(-1))?.(request, response);
}

async function read(message: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const text = body.toString();
  const isJson = message.headers["content-type"] === "application/json";
  return {
    method: message.method ?? "",
    path: message.url ?? "",
    headers: message.headers,
    body,
    text,
    json: isJson ? JSON.parse(text) : {},
  };
}
