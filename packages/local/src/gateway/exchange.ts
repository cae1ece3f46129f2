import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { splice, switchProtocols } from "@cloud-sandbox/protocol/server";

/** A stream is sent as it comes; undefined sends nothing. */
export type Body = Readable | Buffer | string | undefined;

export interface Answer {
  /** The head, and the body as a stream. */
  readonly message: IncomingMessage;
  /** The bare connection, where the request was for one and got it. */
  readonly connection: Duplex | undefined;
}

/** Sends a request and resolves with the head of its answer. A connection is taken only where one was asked for. */
export function exchange(call: ClientRequest, body: Body): Promise<Answer> {
  return new Promise((resolve, reject) => {
    call.once("response", (message) => resolve({ message, connection: undefined }));
    const take = (message: IncomingMessage, connection: Duplex, head: Buffer): void => {
      if (head.length > 0) connection.unshift(head);
      resolve({ message, connection });
    };
    if (call.method === "CONNECT") call.once("connect", take);
    else if (call.hasHeader("upgrade")) call.once("upgrade", take);
    call.on("error", reject);
    // A switch of protocols that nobody asked for ends a call without an error.
    call.once("close", () => reject(new Error("The connection was closed before an answer came.")));
    if (body === undefined || typeof body === "string" || Buffer.isBuffer(body)) {
      call.end(body);
      return;
    }
    body.pipe(call);
    body.once("error", (error) => call.destroy(error));
  });
}

/** Passes an answer on. Once its head is sent, a server that hangs up can only be shown by hanging up too. */
export async function passOn(
  { message, connection }: Answer,
  response: ServerResponse,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  if (connection === undefined) {
    response.writeHead(message.statusCode ?? 502, headers);
    await pipeline(message, response);
    return;
  }
  const client = switchProtocols(response, headers);
  if (client) splice(client, connection);
  else connection.destroy();
}

/** Node frames a stream by itself only for methods that usually have a body. Unframed, it would be read as a next request. */
export function framing(headers: OutgoingHttpHeaders, body: Body): OutgoingHttpHeaders {
  const isStream = body !== undefined && typeof body !== "string" && !Buffer.isBuffer(body);
  return isStream && headers["content-length"] === undefined ? { "transfer-encoding": "chunked" } : {};
}

/** The body to send on, where a request has one. */
export function bodyOf(request: IncomingMessage): IncomingMessage | undefined {
  const { headers } = request;
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return hasBody ? request : undefined;
}

/** Aborts when the client goes away before it has its answer. */
export function abandonment(response: ServerResponse): AbortSignal {
  const abandoned = new AbortController();
  response.once("close", () => abandoned.abort());
  return abandoned.signal;
}

/** What Node's parser makes of an answer that is not HTTP, or whose head does not end. */
export function isParseError(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("HPE_");
}
