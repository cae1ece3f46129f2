import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { bodyOf, framing } from "../relay/exchange.js";
import { withoutHopByHop } from "../relay/forwarded-headers.js";
import { endWhenRead } from "../relay/last-answer.js";
import { relayRequest } from "../relay/merging-relay.js";
import { authorityOf, type Destination, EgressProblem, parseAuthority } from "./destination.js";
import type { EgressAccess } from "./dialer.js";
import { failedAnswer } from "./failed-answer.js";
import type { SecuredConnections } from "./secured-connections.js";
import { authorization, ofMachine, signInProblem } from "./upstream-proxy.js";

const maxHeaderBytes = 16 * 1024;
const keepAliveMs = 30_000;

/** Why the HTTP parser refuses a request, by its error's code. In ASCII, for the status line. */
const unreadableRequests: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW:
    "The address and the headers of a request may have 16 KiB together. A tunnel (CONNECT) has no such limit.",
  HPE_INVALID_URL:
    "The address of the request has characters that must be encoded in a URL, as in caf%C3%A9.",
};
const notHttp = "The proxy received something that is not an HTTP request. Send an HTTP or SOCKS5 request.";

const statusFor: Readonly<Record<EgressProblem["kind"], number>> = {
  malformed: 400,
  refused: 403,
  unresolvable: 502,
  unreachable: 502,
  timeout: 504,
  exhausted: 429,
};

/** The HTTP proxy of all sandboxes: CONNECT tunnels, and plain requests in absolute form. It listens nowhere: `serve` gets each connection. */
export class HttpProxy {
  readonly #server: Server;
  readonly #owners = new WeakMap<Socket, Owner>();

  constructor(private readonly secured: SecuredConnections) {
    this.#server = createServer({
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: keepAliveMs,
      requestTimeout: 0,
    });
    this.#server.on("connect", (incoming: IncomingMessage, client: Socket, head: Buffer) => {
      this.#tunnel(incoming, client, head).catch(() => client.destroy());
    });
    this.#server.on("request", (incoming, answer) => {
      this.#forward(incoming, answer).catch(() => answer.destroy());
    });
    this.#server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, client) => {
      client.end(refusal(malformed(unreadableRequests[code] ?? notHttp)));
    });
  }

  serve(client: Socket, egress: EgressAccess): void {
    const gone = new AbortController();
    // Each request that the client sends before the last one is answered listens. A sandbox's connections bound them.
    setMaxListeners(0, gone.signal);
    client.once("close", () => gone.abort());
    this.#owners.set(client, { egress, gone: gone.signal });
    this.#server.emit("connection", client);
  }

  async #tunnel(incoming: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    try {
      const { egress, gone } = this.#ownerOf(incoming);
      const destination = parseAuthority(incoming.url ?? "");
      if (!destination) throw malformed("CONNECT needs a target of the form host:port.");
      // The connection may take longer than a program may take to name its destination.
      egress.watchIdle(client);
      const join = await egress.tunnel("connect", destination, gone);
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      join(client, head);
    } catch (error) {
      if (error instanceof EgressProblem) client.end(refusal(error));
      else client.destroy();
    }
  }

  async #forward(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    try {
      const { egress, gone } = this.#ownerOf(incoming);
      const { isSecure, authority, path, destination } = absoluteTarget(incoming.url ?? "");
      egress.watchIdle(incoming.socket);
      egress.requireNoSecret(isSecure, destination, incoming);
      // Through an upstream proxy, TLS needs a tunnel.
      const { socket, proxy } = await egress.connect(isSecure ? "connect" : "http", destination, gone);
      const upstream = isSecure ? await this.secured.open(socket, destination, gone) : socket;
      const whom = proxy ? ofMachine : authority;
      const end = (): void => void upstream.destroy();
      gone.addEventListener("abort", end, { once: true });
      // Remove the listener: one connection may carry many requests, and each adds one.
      upstream.once("close", () => gone.removeEventListener("abort", end));
      const outgoing = request({
        createConnection: () => upstream,
        method: incoming.method ?? "GET",
        // A proxy gets the destination in the spelling that was checked.
        path: proxy ? `http://${authorityOf(destination)}${path}` : path,
        // The Host header names the host that was checked; the program's own header could name another.
        headers: [
          "host",
          authority,
          "connection",
          "close",
          ...withoutHopByHop(incoming.rawHeaders, ["host", "expect"]),
          ...Object.entries(framing(incoming.headers, bodyOf(incoming))).flat(),
          ...(proxy ? Object.entries(authorization(proxy)).flat() : []),
        ],
      });
      outgoing.on("error", (error) => {
        // An answer that has begun ends as the server's does.
        if (answer.headersSent) return;
        refuse(answer, new EgressProblem("unreachable", failedAnswer(whom, error)));
      });
      outgoing.on("response", (response) => {
        // Node emits a 101 without an Upgrade header as a response. No upgrade was requested: programs use CONNECT for that.
        if ((response.statusCode ?? 0) < 200) return void upstream.destroy();
        if (proxy && response.statusCode === 407) {
          refuse(answer, signInProblem(proxy, response.headers["proxy-authenticate"]));
          return void upstream.destroy();
        }
        passOn(response, answer, () => upstream.destroy());
      });
      outgoing.on("close", () => {
        if (!answer.headersSent) refuse(answer, unreadable(whom));
      });
      relayRequest(incoming, outgoing);
    } catch (error) {
      if (error instanceof EgressProblem) refuse(answer, error);
      // The error is no refusal: the connection has ended, or there is a bug. Cut the connection, which also ends the
      // upstream one.
      else answer.destroy();
    }
  }

  #ownerOf({ socket }: IncomingMessage): Owner {
    const owner = this.#owners.get(socket);
    if (!owner) throw new Error("The proxy got a request on a connection that no sandbox owns.");
    return owner;
  }
}

interface Owner {
  readonly egress: EgressAccess;
  /** Aborts when the connection closes. Needed because a pipelined response that waits for its turn gets no `close` event. */
  readonly gone: AbortSignal;
}

interface Target {
  readonly isSecure: boolean;
  readonly authority: string;
  readonly path: string;
  readonly destination: Destination;
}

function absoluteTarget(url: string): Target {
  const [, secure, authority = "", rest = ""] = /^http(s)?:\/\/([^/?#]*)([^#]*)/i.exec(url) ?? [];
  const isSecure = secure !== undefined;
  const destination = parseAuthority(authority, isSecure ? 443 : 80);
  if (!destination)
    throw malformed(
      "This is a proxy: a request must name its server, as in GET http://host/path, or CONNECT host:port.",
    );
  return { isSecure, authority, path: rest.startsWith("/") ? rest : `/${rest}`, destination };
}

/** Passes a response on. The server may be hostile: Node parses some status lines that its `writeHead` then refuses. */
function passOn(response: IncomingMessage, answer: ServerResponse, done: () => void): void {
  try {
    answer.sendDate = false;
    const headers = withoutHopByHop(response.rawHeaders);
    answer.writeHead(response.statusCode ?? 502, response.statusMessage, headers);
    pipeline(response, answer, done);
  } catch {
    // Nothing was sent yet: `done` closes the upstream connection, whose close event answers the client.
    done();
  }
}

const unreadable = (whom: string): EgressProblem =>
  new EgressProblem("unreachable", `${whom} did not answer in HTTP.`);

const malformed = (message: string): EgressProblem => new EgressProblem("malformed", message);

/** A refusal as raw HTTP. The message is also in the status line, because pip and others show only that line. */
function refusal({ kind, message }: EgressProblem): string {
  const body = `${message}\n`;
  const headers = [
    "content-type: text/plain",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  return [`HTTP/1.1 ${statusFor[kind]} ${message}`, ...headers, "", body].join("\r\n");
}

function refuse(answer: ServerResponse, { kind, message }: EgressProblem): void {
  if (answer.headersSent) {
    answer.destroy();
    return;
  }
  const text = `${message}\n`;
  answer.writeHead(statusFor[kind], message, {
    "content-type": "text/plain",
    "content-length": Buffer.byteLength(text),
    connection: "close",
  });
  endWhenRead(answer, text);
}
