import {
  type ClientRequest,
  IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import type { Duplex, Readable } from "node:stream";
import { splice, switchProtocols } from "@cloud-sandbox/server-kit";
import { relayBody } from "./merging-relay.js";

/** A request's body. A stream is sent as its bytes arrive; undefined means no body. */
export type Body = Readable | Buffer | string | undefined;

/** Milliseconds that one end of a WebSocket may send when the other has sent its last. */
const websocketLingerMs = 10_000;

/** Most answers with a status below 200, such as 103, that a server may send before the final one. */
const mostHeads = 16;

export interface Answer {
  /** The head of the answer, and its body as a stream. */
  readonly message: IncomingMessage;
  /** The raw connection, if the request was a CONNECT or an upgrade and the server granted it. */
  readonly connection: Duplex | undefined;
}

/** A server answered 101 although the request asked for no upgrade, or for another protocol. */
class UnaskedSwitchError extends Error {
  override readonly name = "UnaskedSwitchError";
}

/** Sends a request and resolves with the head of its answer. Rejects an upgrade that the request did not ask for. */
export function exchange(call: ClientRequest, body: Body): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const answer = (message: IncomingMessage, connection: Duplex | undefined): void =>
      resolve({ message, connection });
    const refuse = (): void => {
      reject(new UnaskedSwitchError("The answer switches to a protocol that the request did not ask for."));
      call.destroy();
    };
    // Node emits a 101 without an Upgrade header as an ordinary response; other statuses below 200 do not get here.
    call.once("response", (message) => (isFinal(message) ? answer(message, undefined) : refuse()));
    const take = (message: IncomingMessage, connection: Duplex, head: Buffer): void => {
      if (head.length > 0) connection.unshift(head);
      answer(message, connection);
    };
    const requestedProtocol = call.getHeader("upgrade");
    let heads = 0;
    call.on("information", () => {
      heads += 1;
      if (heads > mostHeads) call.destroy(new Error("The server sent too many answers that are not final."));
    });
    call.once("connect", take);
    call.once("upgrade", (message, connection, head) => {
      if (requestedProtocol !== undefined && message.headers.upgrade?.toLowerCase() === requestedProtocol)
        return take(message, connection, head);
      connection.destroy();
      refuse();
    });
    call.on("error", reject);
    if (body === undefined || typeof body === "string" || Buffer.isBuffer(body)) {
      call.end(body);
      return;
    }
    if (body instanceof IncomingMessage) relayBody(body, call);
    else body.pipe(call);
    body.once("error", (error) => call.destroy(error));
  });
}

/** Forwards an answer to the client. If the server hangs up after the head was sent, the client's connection is cut too. */
export async function passOn(
  { message, connection }: Answer,
  response: ServerResponse,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  if (connection === undefined) {
    response.writeHead(message.statusCode ?? 502, headers);
    await relay(message, response);
    return;
  }
  const client = switchProtocols(response, "websocket", headers);
  if (client) splice(client, connection, { lingerMs: websocketLingerMs });
  else connection.destroy();
}

/** Does what `pipeline` does, but cheaper: `pipeline` creates and aborts an AbortSignal for every call. */
function relay(message: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    message.once("error", reject);
    response.once("close", () => {
      if (response.writableFinished) return resolve();
      message.destroy();
      reject(new Error("The client disconnected before the whole answer was sent."));
    });
    relayBody(message, response);
  });
}

/**
 * The header that says where a body ends. Node adds it only for methods that usually have a body; without it, the body of a
 * DELETE would be read as the next request.
 */
export function framing(headers: OutgoingHttpHeaders, body: Body): Record<string, string> {
  const isStream = body !== undefined && typeof body !== "string" && !Buffer.isBuffer(body);
  return isStream && headers["content-length"] === undefined ? { "transfer-encoding": "chunked" } : {};
}

/** The body to forward; undefined if the request has none. */
export function bodyOf(request: IncomingMessage): IncomingMessage | undefined {
  const { headers } = request;
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return hasBody ? request : undefined;
}

/** A signal that aborts when the client disconnects before the whole answer was sent. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const disconnected = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished || !response.req.complete) disconnected.abort();
  });
  return disconnected.signal;
}

const isFinal = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200;

/** Whether an error means that the server's answer is not valid HTTP, has too long a head, or is an upgrade that was not requested. */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof UnaskedSwitchError) return true;
  return error instanceof Error && "code" in error && String(error.code).startsWith("HPE_");
}
