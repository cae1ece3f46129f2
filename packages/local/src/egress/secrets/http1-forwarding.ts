import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { bodyOf, framing } from "../../relay/exchange.js";
import { withoutHopByHop } from "../../relay/forwarded-headers.js";
import { endWhenRead } from "../../relay/last-answer.js";
import { relayRequest } from "../../relay/merging-relay.js";
import { joinSockets } from "../../runtime/host/joined-sockets.js";
import { authorityOf } from "../destination.js";
import type { LoggedRequest } from "../egress-log.js";
import { relayAnswer } from "./masked-body.js";
import { type Header, type ReplacedHead, RequestRefusal, replacedHead } from "./replaced-head.js";
import { failure, requireAllowed, requireHost, type SecretHost } from "./secret-host.js";
import { maskedText } from "./value-mask.js";

const maxHeaderBytes = 16 * 1024;
const keepAliveMs = 30_000;
/** Requests that a program may send over a connection before the first is answered. Each may have 16 KiB of headers. */
const mostWaiting = 256;

/** Why the HTTP parser refuses a request, by its error's code. */
const unreadableRequests: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "A request to a host that has a secret may have 16 KiB of headers, with its address.",
  HPE_INVALID_URL:
    "The address of the request has characters that must be encoded in a URL, as in caf%C3%A9.",
};

/** A program's connection, with the one to the real server that all its requests are sent over. */
interface Connection {
  readonly host: SecretHost;
  readonly upstream: TLSSocket;
  readonly agent: Agent;
  /** The requests that are not answered. */
  open: number;
}

/** Sends the requests of programs to hosts that have a secret on, over HTTP/1.1. Each is built anew from its parsed parts. */
export class Http1Forwarding {
  readonly #server: Server;
  readonly #connections = new WeakMap<Duplex, Connection>();

  constructor() {
    this.#server = createServer({
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: keepAliveMs,
      requestTimeout: 0,
    });
    this.#server.on("request", (incoming, answer) => this.#forward(incoming, answer));
    this.#server.on("upgrade", (incoming, client, head) => this.#upgrade(incoming, client, head));
    this.#server.on("clientError", (error: NodeJS.ErrnoException, program) => this.#refuse(error, program));
  }

  serve(program: TLSSocket, upstream: TLSSocket, host: SecretHost): void {
    const connection: Connection = {
      host,
      upstream,
      agent: new OneConnection(upstream),
      open: 0,
    };
    this.#connections.set(program, connection);
    const end = (): void => {
      // Requests that wait are answered first, and one that comes is told why there is no server.
      if (connection.open === 0 && host.failure() === undefined) program.end();
    };
    if (upstream.destroyed) end();
    upstream.once("close", end);
    this.#server.emit("connection", program);
  }

  #forward(incoming: IncomingMessage, answer: ServerResponse): void {
    const connection = this.#connectionOf(incoming.socket);
    connection.open += 1;
    if (connection.open > mostWaiting) return void incoming.socket.destroy();
    const entry = entryOf(incoming, connection.host);
    answer.once("close", () => {
      connection.open -= 1;
      if (connection.open === 0 && connection.upstream.destroyed) incoming.socket.end();
    });
    try {
      const head = this.#replaced(incoming, connection);
      entry.allow(head.secrets);
      const body = bodyOf(incoming);
      const outgoing = send(incoming, connection, [
        ...head.headers,
        ...pairsOf(Object.entries(framing(incoming.headers, body)).flat()),
      ]);
      outgoing.on("error", (error: NodeJS.ErrnoException) => {
        const why = failure(error, connection.host);
        entry.end("failed", why);
        // An answer that has begun ends as the server's does.
        if (!answer.headersSent) refuse(answer, 502, why);
      });
      outgoing.on("response", (response) => {
        entry.answered(response.statusCode ?? 0);
        // Node.js emits a 101 without an Upgrade header as a response.
        if ((response.statusCode ?? 0) < 200) return void outgoing.destroy(new Error("unasked switch"));
        passOn(response, answer, head.sent, entry);
      });
      answer.once("close", () => {
        entry.end();
        if (!answer.writableFinished) outgoing.destroy();
      });
      if (body === undefined) return void outgoing.end();
      body.on("data", (piece: Buffer) => {
        entry.bytesSent += piece.length;
      });
      relayRequest(body, outgoing);
    } catch (error) {
      if (!(error instanceof RequestRefusal)) return void answer.destroy();
      entry.end("refused", error.message);
      refuse(answer, error.status, error.message);
    }
  }

  /** Joins a WebSocket. Its frames pass as they are: a placeholder is replaced in the head alone. */
  #upgrade(incoming: IncomingMessage, client: Duplex, head: Buffer): void {
    const connection = this.#connectionOf(client);
    const entry = entryOf(incoming, connection.host);
    const end = (status: number, why: string): void => {
      client.end(rawAnswer(status, why, [["content-type", "text/plain"]], `${why}\n`));
    };
    try {
      if (incoming.headers.upgrade?.toLowerCase() !== "websocket" || bodyOf(incoming))
        throw new RequestRefusal(
          400,
          "With a host that has a secret a connection becomes a WebSocket, and nothing else.",
        );
      const replaced = this.#replaced(incoming, connection);
      entry.allow(replaced.secrets);
      const outgoing = send(incoming, connection, [
        ...replaced.headers,
        ["connection", "Upgrade"],
        ["upgrade", "websocket"],
      ]);
      outgoing.on("error", (error: NodeJS.ErrnoException) => {
        const why = failure(error, connection.host);
        entry.end("failed", why);
        end(502, why);
      });
      outgoing.on("upgrade", (response, upstream: Socket, first) => {
        entry.answered(101);
        client.once("close", () => entry.end());
        const headers = maskedHeaders(withoutHopByHop(response.rawHeaders), replaced.sent);
        const switching: Header[] = [
          ["connection", "Upgrade"],
          ["upgrade", "websocket"],
        ];
        client.write(rawHead(101, "Switching Protocols", [...headers, ...switching]));
        if (first.length > 0) upstream.unshift(first);
        if (head.length > 0) client.unshift(head);
        joinSockets(client as Socket, upstream);
      });
      outgoing.on("response", (response) => {
        const { statusCode = 502, statusMessage = "" } = response;
        entry.answered(statusCode);
        response.once("close", () => entry.end());
        const headers = maskedHeaders(withoutHopByHop(response.rawHeaders), replaced.sent);
        client.write(
          rawHead(statusCode, maskedText(statusMessage, replaced.sent), [
            ...headers,
            ["connection", "close"],
          ]),
        );
        const encoding = response.headers["content-encoding"];
        relayAnswer(response, client, entry, { encoding, values: replaced.sent });
      });
      outgoing.end();
    } catch (error) {
      if (!(error instanceof RequestRefusal)) return void client.destroy();
      entry.end("refused", error.message);
      end(error.status, error.message);
    }
  }

  /** Tells a program why its request cannot be read: an answer without a reason would look like the server's. */
  #refuse({ code = "" }: NodeJS.ErrnoException, program: Duplex): void {
    if (!program.writable || !code.startsWith("HPE_")) return void program.destroy();
    const why = unreadableRequests[code] ?? "This is not a request in HTTP/1.1.";
    this.#connectionOf(program).host.request("", "").end("refused", why);
    const [status, reason] = code === "HPE_HEADER_OVERFLOW" ? [431, "Too large"] : [400, "Bad Request"];
    program.end(rawAnswer(status, reason, [["content-type", "text/plain"]], `${why}\n`));
  }

  #connectionOf(socket: Duplex): Connection {
    const connection = this.#connections.get(socket);
    if (!connection) throw new Error("A request came on a connection that belongs to no sandbox.");
    return connection;
  }

  #replaced(incoming: IncomingMessage, { host, upstream }: Connection): ReplacedHead {
    const failure = host.failure();
    if (failure !== undefined) throw new RequestRefusal(502, failure);
    // As a server that closes a connection which is kept alive: the program sends its request over another one.
    if (upstream.destroyed) throw new Error("The server has closed the connection.");
    requireSound(incoming);
    const target = targetIn(incoming, host);
    requireAllowed(incoming.method ?? "", target, host);
    const headers = pairsOf(withoutHopByHop(incoming.rawHeaders, ["host", "expect"]));
    const replaced = replacedHead(
      { method: incoming.method ?? "", target, headers },
      host.secrets,
      host.others,
    );
    if (replaced.secrets.length === 0) return replaced;
    // An answer that is compressed cannot be masked, only cut.
    const others = replaced.headers.filter(([name]) => name.toLowerCase() !== "accept-encoding");
    return { ...replaced, headers: [...others, ["accept-encoding", "identity"]] };
  }
}

/** Sends all requests over one connection, one after another. */
class OneConnection extends Agent {
  constructor(private readonly socket: TLSSocket) {
    super({ keepAlive: true, maxSockets: 1 });
  }

  override createConnection(): TLSSocket {
    return this.socket;
  }
}

const entryOf = ({ method = "", url = "" }: IncomingMessage, { request }: SecretHost): LoggedRequest =>
  request(method, url.replace(/^https?:\/\/[^/?#]*/i, ""));

function send(incoming: IncomingMessage, { host, agent }: Connection, headers: readonly Header[]) {
  return request({
    agent,
    method: incoming.method ?? "GET",
    path: targetIn(incoming, host),
    setHost: false,
    headers: ["host", hostHeader(host), ...headers.flat()],
  });
}

const hostHeader = ({ destination }: SecretHost): string =>
  destination.port === 443 ? destination.host : authorityOf(destination);

/** Refuses what Node's parser lets through and servers read in different ways. */
function requireSound({ rawHeaders, headers, httpVersion, method }: IncomingMessage): void {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host");
  if (hosts.length !== 1) throw new RequestRefusal(400, "A request must have one Host header.");
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && (coding.toLowerCase() !== "chunked" || httpVersion === "1.0"))
    throw new RequestRefusal(400, "The only Transfer-Encoding is chunked, in HTTP/1.1.");
  if (method === "TRACE" || method === "CONNECT")
    throw new RequestRefusal(403, "TRACE would repeat the head of the request.");
}

/** The path and query of a request. Throws unless it is for the tunnel's host. */
function targetIn({ url = "", headers }: IncomingMessage, host: SecretHost): string {
  requireHost(headers.host, host);
  const [, authority, rest = ""] = /^https:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (authority === undefined) {
    if (url.startsWith("/") || url === "*") return url;
    throw new RequestRefusal(400, "The target of a request is its path.");
  }
  requireHost(authority, host);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** Passes an answer on. The server may be hostile: Node parses some status lines that its `writeHead` then refuses. */
function passOn(
  response: IncomingMessage,
  answer: ServerResponse,
  sent: readonly string[],
  entry: LoggedRequest,
): void {
  try {
    answer.sendDate = false;
    const headers = maskedHeaders(withoutHopByHop(response.rawHeaders), sent);
    const { trailer, connection } = response.headers;
    if (trailer !== undefined && response.headers["content-length"] === undefined)
      headers.push(["trailer", maskedText(trailer, sent)]);
    // Of a request that is still being sent, the rest is read first.
    if (connection?.toLowerCase() === "close" && answer.req.complete) headers.push(["connection", "close"]);
    answer.writeHead(
      response.statusCode ?? 502,
      maskedText(response.statusMessage ?? "", sent),
      headers.flat(),
    );
    response.once("end", () => {
      if (response.rawTrailers.length > 0) answer.addTrailers(maskedHeaders(response.rawTrailers, sent));
    });
    relayAnswer(response, answer, entry, { encoding: response.headers["content-encoding"], values: sent });
  } catch {
    response.destroy();
    refuse(answer, 502, "The server did not answer in HTTP.");
  }
}

/** Raw headers, names and values in turn, as pairs without the values that were sent. */
function maskedHeaders(rawHeaders: readonly string[], sent: readonly string[]): Header[] {
  return pairsOf(rawHeaders).map(
    ([name, value]): Header => [maskedText(name, sent), maskedText(value, sent)],
  );
}

function pairsOf(rawHeaders: readonly string[]): Header[] {
  return rawHeaders.flatMap((name, index): Header[] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""]] : [],
  );
}

function refuse(answer: ServerResponse, status: number, message: string): void {
  if (answer.headersSent) return void answer.destroy();
  const text = `${message}\n`;
  answer.writeHead(status, {
    "content-type": "text/plain",
    "content-length": Buffer.byteLength(text),
    connection: "close",
  });
  // A request that is not sound has no rest that could be read.
  if (status === 400) answer.end(text);
  else endWhenRead(answer, text);
}

const rawHead = (status: number, reason: string, headers: readonly Header[]): string =>
  [`HTTP/1.1 ${status} ${reason}`, ...headers.map(([name, value]) => `${name}: ${value}`), "", ""].join(
    "\r\n",
  );

const rawAnswer = (status: number, reason: string, headers: readonly Header[], body: string): string =>
  rawHead(status, reason, [
    ...headers,
    ["content-length", String(Buffer.byteLength(body))],
    ["connection", "close"],
  ]) + body;
