import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { requestId } from "./exchange.js";
import { type Envelope, Problem } from "./problem.js";

const reasons: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: new Problem(
    431,
    "PAYLOAD_TOO_LARGE",
    "The request's address and headers are too large: together they may have 16 KiB.",
    { hint: "Send long values in the request's body." },
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new Problem(
    408,
    "INVALID_REQUEST",
    "The request's headers did not arrive in time.",
    { hint: "Send the request again, with all headers at once." },
  ),
};
const notHttp = new Problem(400, "INVALID_REQUEST", "This is not a request in HTTP/1.1.", {
  hint: "Send the request with an ordinary HTTP client.",
});

const lingerMs = 2000;

/**
 * Answers requests that the HTTP parser rejects, and that therefore never reach a router, in the usual error format.
 * `envelopeFor` gets the request's target, which is empty if it could not be read.
 */
export function answerUnreadableRequests(server: Server, envelopeFor: (target: string) => Envelope): void {
  const answered = new WeakSet<Duplex>();
  server.on("clientError", (error: ParserError, socket: Duplex) => {
    // The parser fails again on further bytes of the same connection; answer only once.
    if (answered.has(socket)) return;
    answered.add(socket);
    if (!socket.writable || error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    const problem = reasons[error.code ?? ""] ?? notHttp;
    const id = requestId(undefined);
    const envelope = envelopeFor(targetOf(error));
    const body = JSON.stringify(envelope(problem, { requestId: id, timestamp: new Date().toISOString() }));
    const headers = [
      `HTTP/1.1 ${problem.status} ${problem.code}`,
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${id}`,
      "connection: close",
    ];
    socket.end(`${headers.join("\r\n")}\r\n\r\n${body}`);
    // Wait before closing: closing a connection with bytes still arriving resets it, and the answer would be lost.
    const lingering = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once("close", () => clearTimeout(lingering));
  });
}

/** The error of Node's HTTP parser, with the bytes it could not parse. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

const targetOf = ({ rawPacket }: ParserError) =>
  /^[A-Z]+ (\S+)/.exec(rawPacket?.toString("latin1", 0, 1000) ?? "")?.[1] ?? "";
