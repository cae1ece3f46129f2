import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Stream,
  type ServerStreamResponseOptions,
  sensitiveHeaders,
} from "node:http2";
import type { TLSSocket } from "node:tls";
import { connectionHeaders } from "../../relay/forwarded-headers.js";
import { authorityOf } from "../destination.js";
import type { LoggedRequest } from "../egress-log.js";
import { relayAnswer, relayBody } from "./masked-body.js";
import { type Header, RequestRefusal, replacedHead } from "./replaced-head.js";
import { failure, requireAllowed, requireHost, type SecretHost } from "./secret-host.js";
import { maskedText } from "./value-mask.js";

const settings = {
  enablePush: false,
  maxConcurrentStreams: 128,
  initialWindowSize: 1024 * 1024,
  maxHeaderListSize: 16 * 1024,
} as const;
/** Bytes of all streams of a connection that may be on their way. */
const windowBytes = 4 * 1024 * 1024;

/** Sends the requests of a program that speaks HTTP/2 on to a host that has a secret, over HTTP/2. */
export function forwardHttp2(program: TLSSocket, upstream: TLSSocket, host: SecretHost): void {
  if (upstream.destroyed) return void program.destroy();
  const server = connect(`https://${authorityOf(host.destination)}`, {
    createConnection: () => upstream,
    settings,
  });
  const client = performServerHandshake(program, { settings });
  for (const session of [server, client]) {
    session.once("connect", () => session.setLocalWindowSize(windowBytes));
    // The close event follows.
    session.on("error", () => undefined);
  }
  server.once("close", () => client.close());
  server.once("goaway", () => client.close());
  client.once("close", () => server.destroy());
  client.on("stream", (stream, headers, flags) => {
    // A reset says all there is to say.
    stream.on("error", () => undefined);
    const isWhole = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    forward(stream, { headers, isWhole }, server, host);
  });
}

interface Asked {
  readonly headers: IncomingHttpHeaders;
  /** Whether the request has no body. */
  readonly isWhole: boolean;
}

function forward(
  stream: ServerHttp2Stream,
  asked: Asked,
  server: ClientHttp2Session,
  host: SecretHost,
): void {
  const { ":method": method = "", ":path": target = "", ":authority": authority } = asked.headers;
  const entry = host.request(method, target);
  try {
    requireHost(authority ?? asked.headers.host, host);
    if (asked.headers.host !== undefined) requireHost(asked.headers.host, host);
    if (method === "CONNECT" || method === "TRACE" || !/^(?:\/|\*$)/.test(target))
      throw new RequestRefusal(
        403,
        "TRACE and CONNECT are refused, and the target of a request is its path.",
      );
    requireAllowed(method, target, host);
    const headers = pairsOf(asked.headers).filter(([name]) => !name.startsWith(":") && name !== "host");
    const head = replacedHead({ method, target, headers }, host.secrets, host.others);
    const { sent } = head;
    entry.allow(head.secrets);
    const call = server.request(
      {
        ":method": method,
        ":path": target,
        ":authority": authorityIn(host),
        ...outgoing(head.headers, sent),
      },
      { endStream: asked.isWhole },
    );
    stream.once("close", () => {
      entry.end();
      if (!call.closed) call.close(stream.rstCode || constants.NGHTTP2_CANCEL);
    });
    if (!asked.isWhole)
      relayBody(stream, call, (bytes) => {
        entry.bytesSent += bytes;
      });
    let trailers: OutgoingHttpHeaders = {};
    call.on("trailers", (last) => {
      trailers = masked(last, sent);
    });
    call.on("response", (answered, flags) => {
      entry.answered(answered[":status"] ?? 0);
      const isOver = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      const head = { headers: masked(answered, sent), sent, isOver, trailers: () => trailers };
      answer(stream, call, head, entry);
    });
    call.on("error", (error) => {
      if (!stream.headersSent && !stream.closed) entry.end("failed", failure(error, host));
    });
    call.once("close", () => {
      if (stream.headersSent && call.rstCode === 0) return;
      if (!stream.destroyed) stream.close(call.rstCode || constants.NGHTTP2_INTERNAL_ERROR);
    });
  } catch (error) {
    const isRefused = error instanceof RequestRefusal;
    entry.end("refused", isRefused ? error.message : "The request is not valid in HTTP/2.");
    if (respond(stream, { ":status": isRefused ? error.status : 400, "content-type": "text/plain" }))
      stream.end(isRefused ? `${error.message}\n` : undefined);
  }
}

/**
 * Begins an answer. Returns false if the program has given it up, or if it cannot be passed on: Node.js throws for statuses and headers
 * that it reads, and HTTP/2 forbids.
 */
function respond(
  stream: ServerHttp2Stream,
  headers: OutgoingHttpHeaders,
  options?: ServerStreamResponseOptions,
): boolean {
  if (stream.closed || stream.destroyed) return false;
  try {
    stream.respond(headers, options);
    return true;
  } catch {
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    return false;
  }
}

const authorityIn = ({ destination }: SecretHost): string =>
  destination.port === 443 ? destination.host : authorityOf(destination);

interface Answer {
  readonly headers: OutgoingHttpHeaders;
  readonly sent: readonly string[];
  /** Whether it has neither a body nor trailers. */
  readonly isOver: boolean;
  readonly trailers: () => OutgoingHttpHeaders;
}

function answer(
  stream: ServerHttp2Stream,
  call: ClientHttp2Stream,
  { headers, sent, isOver, trailers }: Answer,
  entry: LoggedRequest,
): void {
  if (!respond(stream, headers, isOver ? { endStream: true } : { waitForTrailers: true })) {
    entry.end("failed", "The answer is not valid in HTTP/2.");
    return;
  }
  if (isOver) return;
  // Without trailers an empty list of them must be sent: the stream would not end.
  stream.once("wantTrailers", () => {
    try {
      stream.sendTrailers(trailers());
    } catch {
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  });
  const encoding = String(headers["content-encoding"] ?? "");
  relayAnswer(call, stream, entry, { encoding, values: sent });
}

/** The headers as an object. Those that have a value are kept out of the tables of compression. */
function outgoing(headers: readonly Header[], sent: readonly string[]): OutgoingHttpHeaders {
  const sensitive = headers
    .filter(([, value]) => sent.some((each) => value.includes(each)))
    .map(([name]) => name.toLowerCase());
  const asked = headers.map(([name, value]) => [name.toLowerCase(), value]);
  if (sent.length > 0) asked.push(["accept-encoding", "identity"]);
  return { ...Object.fromEntries(asked), [sensitiveHeaders]: sensitive };
}

/** The headers of a message, without those of its connection. */
function pairsOf(headers: IncomingHttpHeaders): Header[] {
  const kept = Object.entries(headers).filter(
    ([name]) => name === "te" || name === "trailer" || !connectionHeaders.has(name),
  );
  return kept.flatMap(([name, value]) => [value ?? []].flat().map((each): Header => [name, String(each)]));
}

/** Headers without the values that were sent. */
function masked(headers: IncomingHttpHeaders, sent: readonly string[]): OutgoingHttpHeaders {
  const masked: Record<string, string[]> = {};
  for (const [written, value] of pairsOf(headers)) {
    const name = maskedText(written, sent);
    masked[name] = [...(masked[name] ?? []), maskedText(value, sent)];
  }
  // Node.js refuses lists for headers that may be there once.
  return Object.fromEntries(
    Object.entries(masked).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}
