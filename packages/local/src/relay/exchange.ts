import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Duplex, Readable } from "node:stream";
import { splice, switchProtocols } from "@cloud-sandbox/server-kit";

/** A stream is sent as it comes; undefined sends nothing. */
export type Body = Readable | Buffer | string | undefined;

/** Bytes that may wait for who is slower, on each side: so much goes through without stopping and starting who sends. */
export const relayedAtOnce = 256 * 1024;

export interface Answer {
  /** The head, and the body as a stream. */
  readonly message: IncomingMessage;
  /** The bare connection, where the request was for one and got it. */
  readonly connection: Duplex | undefined;
}

/** An answer that switches to a protocol which nobody asked for, with or without saying to which. */
class UnaskedSwitchError extends Error {
  override readonly name = "UnaskedSwitchError";
}

/** Sends a request and resolves with the head of its answer. A connection is taken only where one was asked for. */
export function exchange(call: ClientRequest, body: Body): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const answer = (message: IncomingMessage, connection: Duplex | undefined): void => {
      isAnswered = true;
      resolve({ message, connection });
    };
    const refuse = (): void => {
      reject(new UnaskedSwitchError("Nobody asked for that protocol."));
      call.destroy();
    };
    // Node takes a 101 that names no protocol for an ordinary answer; what else is below 200 is none.
    call.once("response", (message) => (isFinal(message) ? answer(message, undefined) : refuse()));
    const take = (message: IncomingMessage, connection: Duplex, head: Buffer): void => {
      if (head.length > 0) connection.unshift(head);
      answer(message, connection);
    };
    const asked = call.getHeader("upgrade");
    if (call.method === "CONNECT") call.once("connect", take);
    call.once("upgrade", (message, connection, head) => {
      if (asked !== undefined && message.headers.upgrade?.toLowerCase() === asked)
        return take(message, connection, head);
      connection.destroy();
      refuse();
    });
    call.on("error", reject);
    call.once("close", () => {
      if (!isAnswered) reject(new Error("The connection was closed before an answer came."));
    });
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
    await relay(message, response);
    return;
  }
  const client = switchProtocols(response, "websocket", headers);
  if (client) splice(client, connection);
  else connection.destroy();
}

/** As `pipeline` does it, without the signal that it makes and aborts for each. */
function relay(message: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    message.once("error", reject);
    response.once("close", () => {
      if (response.writableFinished) return resolve();
      message.destroy();
      reject(new Error("The client went away before it had its answer."));
    });
    message.pipe(response);
  });
}

/** Node frames a stream by itself only for methods that usually have a body. Unframed, it would be read as a next request. */
export function framing(headers: OutgoingHttpHeaders, body: Body): Record<string, string> {
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
  response.once("close", () => {
    if (!response.writableFinished || !response.req.complete) abandoned.abort();
  });
  return abandoned.signal;
}

const isFinal = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200;

/** Whether an answer is not HTTP as it was asked for: what Node's parser makes of one, or of a head that does not end, too. */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof UnaskedSwitchError) return true;
  return error instanceof Error && "code" in error && String(error.code).startsWith("HPE_");
}
