/** Serves many clients over Streamable HTTP, at `/mcp`. */
import { once } from "node:events";
import { createServer as createHttpServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createServer, type Offer } from "../server/mcp-server.js";
import { closeWithinMs, stopSignal, timePasses } from "../server/stopping.js";
import type { SharedBackend } from "../session/shared-backend.js";
import { OptionError } from "../settings.js";
import { BearerTokens, newToken, parseTokens } from "./bearer-tokens.js";
import type { ClientKeys } from "./client-keys.js";
import { LoadLimit, type LoadShare } from "./load-limit.js";
import { type EndpointParts, McpEndpoint } from "./mcp-endpoint.js";
import {
  crossOriginHeaders,
  isLoopback,
  isPreflight,
  preflightHeaders,
  type Refusal,
  RequestChecks,
  refused,
} from "./request-checks.js";
import { listenOnSocket } from "./unix-socket.js";

export interface HttpOptions {
  readonly host: string;
  /** Port to listen on; 0 takes any free port. */
  readonly port: number;
  /** Path of a Unix socket to listen on instead of a port. */
  readonly socket?: string | undefined;
  readonly allowedHost?: readonly string[];
  readonly allowedOrigin?: readonly string[];
  /** Accepted tokens, in the form of `CLOUD_SANDBOX_MCP_TOKEN`. With false, clients need no token. */
  readonly token?: string | false | undefined;
  /** With them, clients send an API key of their own in place of a token. */
  readonly keys?: ClientKeys | undefined;
  /** The most clients that are remembered at a time. */
  readonly maxClients: number;
  /** Seconds after which a silent client is forgotten. */
  readonly idleTimeout: number;
}

export interface ServiceParts extends EndpointParts {
  /** The backend of clients that send no API key of their own. */
  readonly backend: SharedBackend;
}

export interface HttpService {
  /** The URL of the MCP endpoint. */
  readonly url: string;
  /**
   * Waits a moment for open requests, then cancels them. Cancelled tool calls get an error that says that the server
   * shuts down.
   */
  close(): Promise<void>;
}

/** Bytes of the largest body: the longest text that a tool takes, and half as much for its escapes. */
const longestBody = 24 * 1024 * 1024;
const load = { mostRequests: 1_000, mostBytes: 8 * longestBody };

/** Milliseconds that open requests may continue after the server was asked to stop. */
const drainMs = 700;

/** Milliseconds for sending the answers of cancelled calls. */
const answerMs = 500;

/** Serves until a signal asks to stop. Resolves when everything is cleaned up. */
export async function serveOverHttp(
  offer: Offer,
  backend: SharedBackend,
  options: HttpOptions,
): Promise<void> {
  const { log } = offer;
  const stopped = stopSignal();
  const newServer: EndpointParts["newServer"] = (session, isLasting) =>
    createServer(offer, session, isLasting);
  const { sessionless } = offer.profile;
  const service = await startHttpService(
    { newServer, backend, sessionless, additions: offer.additions, log },
    options,
  );
  log(`listening at ${service.url}`);
  if (options.keys === undefined) backend.warmUp();
  await stopped;
  const ended = service.close().then(() => Promise.all([backend.close(), options.keys?.close()]));
  await Promise.race([ended, timePasses(closeWithinMs)]);
}

/** Starts to listen. `parts` has the MCP server to serve and its backend. */
export async function startHttpService(parts: ServiceParts, options: HttpOptions): Promise<HttpService> {
  const { log } = parts;
  const { host, port, allowedHost = [], allowedOrigin = [], keys } = options;
  const tokens = keys ?? tokensFor(options, log);
  const checks = new RequestChecks({
    host,
    allowedHosts: allowedHost,
    allowedOrigins: allowedOrigin,
    tokens,
    tokenAdvice: keys === undefined ? sendToken : sendKey,
  });
  const clients = { most: options.maxClients, idleMs: options.idleTimeout * 1000 };
  const endpoint = new McpEndpoint(parts, clients);
  const limit = new LoadLimit(load);
  const underWay = new Set<Promise<void>>();
  let isClosing = false;

  const timeouts = { headersTimeout: 10_000, requestTimeout: 60_000, connectionsCheckingInterval: 5_000 };
  const server = createHttpServer(timeouts, (request, response) => {
    const path = request.url?.split("?")[0];
    if (path === "/healthz") return answerHealth(response, isClosing);
    // Reads the rest of the body and drops it: a client that is still sending does not read the answer.
    const refuse = (refusal: Refusal): void => {
      request.resume();
      response.writeHead(refusal.status, headersOf(refusal)).end(bodyOf(refusal));
    };
    const refusal = checks.refusal(request);
    if (refusal !== undefined) return refuse(refusal);
    for (const [name, value] of Object.entries(crossOriginHeaders(request))) response.setHeader(name, value);
    if (path !== "/mcp" && path !== "/mcp/") return refuse(elsewhere);
    if (isPreflight(request)) return void response.writeHead(204, preflightHeaders(request, methods)).end();
    const checked = checks.token(request);
    if ("status" in checked) return refuse(checked);
    if (!methods.includes(request.method ?? "")) return refuse(notAllowed);
    if (isClosing) return refuse(ending);
    if (Number(request.headers["content-length"] ?? 0) > longestBody) return refuse(tooLong);
    const share = limit.enter(checked.tokenDigest);
    if (share === undefined) return refuse(busy);
    const over = new Promise<void>((resolve) => response.once("close", resolve));
    // Wait only for POST requests when closing: a GET opens a stream of notifications, which never ends by itself.
    if (request.method === "POST") underWay.add(over);
    void over.then(() => {
      share.leave();
      underWay.delete(over);
    });
    cutWhenUnread(response);
    const serve = async (web: Request): Promise<Response> => {
      // Before the body is read, so that nobody without a key has it read.
      const backend = (await keys?.backendFor(request.headers.authorization)) ?? parts.backend;
      if ("status" in backend) return asResponse(backend);
      const text = await textOf(web, share);
      if (text === undefined) return asResponse(busy);
      const { tokenDigest } = checked;
      const answer = await endpoint.serve({ request: web, text, tokenDigest, backend, over });
      // Node.js keeps the headers back until the first event, which may take long: clients would wait for their stream to open.
      setImmediate(() => response.headersSent && response.flushHeaders());
      return answer instanceof Response ? answer : asResponse(answer);
    };
    const onerror = (error: Error): void => log(`a request could not be served (${error.name})`);
    const serveNode = toNodeHandler({ fetch: serve }, { maxRequestBodySize: longestBody, onerror });
    const { method = "GET", url = "/" } = request;
    serveNode(Object.assign(request, { method, url }), response).catch(onerror);
  });
  const { socket } = options;
  await (socket === undefined ? listen(server, host, port) : listenOnSocket(server, socket));
  return {
    url: socket === undefined ? `http://${authority(host, server)}/mcp` : `unix:${socket}, path /mcp`,
    close: async () => {
      isClosing = true;
      server.close();
      await Promise.race([Promise.all(underWay), timePasses(drainMs)]);
      endpoint.stopCalls();
      await Promise.race([Promise.all(underWay), timePasses(answerMs)]);
      await endpoint.close();
      server.closeAllConnections();
    },
  };
}

/** A port needs a token, because every user of this machine can reach it. A Unix socket can be opened only by its own user. */
function tokensFor({ host, socket, token: text }: HttpOptions, log: EndpointParts["log"]): BearerTokens {
  if (text === false) {
    if (socket !== undefined || isLoopback(host)) return new BearerTokens([]);
    throw new OptionError(`Other machines can reach ${host}, so clients need a token: drop --no-token.`);
  }
  const tokens = parseTokens(text);
  if (tokens.length > 0 || socket !== undefined) return new BearerTokens(tokens);
  const token = newToken();
  log("clients need a token; CLOUD_SANDBOX_MCP_TOKEN is not set, so this one was made:");
  log(`Authorization: Bearer ${token}`);
  return new BearerTokens([token]);
}

/** The text of a body. Undefined if the server has no room for it now. */
async function textOf({ body }: Request, share: LoadShare): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  // Small pieces are joined first: each string that is kept costs more than its characters.
  const block = new Uint8Array(64 * 1024);
  let filled = 0;
  for await (const piece of body ?? []) {
    if (!share.take(piece.length)) return undefined;
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + block.length - filled);
      block.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < block.length) continue;
      text += decoder.decode(block, { stream: true });
      filled = 0;
    }
  }
  return text + decoder.decode(block.subarray(0, filled));
}

/** Milliseconds after which an answer is cut of which the client has read nothing. It would stay in memory. */
const unreadMs = 30_000;

function cutWhenUnread(response: ServerResponse): void {
  let written = 0;
  const timer = setInterval(() => {
    const { socket } = response;
    if (!socket) return;
    if (socket.writableLength > 0 && socket.bytesWritten - socket.writableLength === written)
      socket.destroy();
    written = socket.bytesWritten - socket.writableLength;
  }, unreadMs).unref();
  response.once("close", () => clearInterval(timer));
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    const step =
      reason === "EADDRINUSE" ? "choose another with --port; 0 takes any free one" : "choose another --host";
    throw new OptionError(`Cannot listen on ${host}, port ${port} (${reason}); ${step}.`);
  }
}

function authority(host: string, server: Server): string {
  const { port } = server.address() as AddressInfo;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function answerHealth(response: ServerResponse, isClosing: boolean): void {
  response.writeHead(isClosing ? 503 : 200, {
    "content-type": "application/json",
    "cache-control": "no-store",
  });
  response.end(JSON.stringify({ status: isClosing ? "stopping" : "ok" }));
}

function asResponse(refusal: Refusal): Response {
  return new Response(bodyOf(refusal), { status: refusal.status, headers: headersOf(refusal) });
}

function headersOf({ headers }: Refusal): Record<string, string> {
  return { "content-type": "application/json", ...headers };
}

function bodyOf({ message }: Refusal): string {
  return JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } });
}

const sendToken =
  "send the server's token as Authorization: Bearer …; the server prints it on stderr when it starts, and CLOUD_SANDBOX_MCP_TOKEN sets it";
const sendKey = "send your API key as Authorization: Bearer …";

const methods = ["GET", "POST", "DELETE"];
const elsewhere = refused(404, "MCP is served only at /mcp");
const notAllowed = refused(405, "MCP over HTTP uses only GET, POST and DELETE", {
  allow: methods.join(", "),
});
const ending = refused(503, "the server is shutting down; call again in a moment", { "retry-after": "5" });
const busy = refused(503, "the server is handling too many requests; call again in a moment", {
  "retry-after": "1",
});
const tooLong = refused(413, `a body may have at most ${longestBody / 1024 / 1024} MiB; send less at a time`);
