import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request as the server received it. */
export interface SeenRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  text: string;
  json: Record<string, unknown>;
}

export type Handler = (request: SeenRequest, response: ServerResponse) => unknown;

/** An HTTP server on loopback whose answers a test writes, right or wrong. */
export interface ScriptedServer {
  url: string;
  /** All requests that were received completely. */
  requests: SeenRequest[];
  /** "METHOD /path" of all requests so far. */
  calls(): string[];
  /** Closes all connections. */
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
      // The client closes the connection when it gives up, so the request may end early.
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

/** Answers the first request with the first handler, and so on. The last handler also answers all further requests. */
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
