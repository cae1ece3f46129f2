/**
 * MCP over HTTP, with a session for each client: both the protocol versions with an `Mcp-Session-Id` and the stateless
 * one.
 */
import { randomUUID } from "node:crypto";
import {
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Additions } from "../server/mcp-server.js";
import { type ErrorAnswer, notJson, received } from "../server/received-message.js";
import { Session } from "../session/session.js";
import type { SharedBackend } from "../session/shared-backend.js";
import { type HttpClient, HttpClients, type HttpClientsOptions } from "./http-clients.js";
import { OpenIds } from "./open-ids.js";
import { type Refusal, refused } from "./request-checks.js";

export interface EndpointParts {
  /** Creates the MCP server for a client: one for each session, or one for each request of the stateless protocol. */
  readonly newServer: (session: Session, isLasting: boolean) => McpServer | Promise<McpServer>;
  /** Notifies of changes to what all clients are offered. */
  readonly additions?: Pick<Additions, "onChange"> | undefined;
  /** Whether to serve a request without `Mcp-Session-Id`, although its protocol version requires one. */
  readonly sessionless?: boolean | undefined;
  readonly log: (line: string) => void;
}

interface EndpointClient extends HttpClient {
  /** The transport of a session; undefined for a client of the stateless protocol. */
  readonly transport?: WebStandardStreamableHTTPServerTransport;
  readonly openIds?: OpenIds;
}

export interface EndpointRequest {
  readonly request: Request;
  /** The request's body. */
  readonly text: string;
  /** The digest of the request's token; "" if this server needs no token. */
  readonly tokenDigest: string;
  /** Where the client's sandboxes are. */
  readonly backend: SharedBackend;
  /** Resolves when the response was sent, or the connection has closed. */
  readonly over: Promise<void>;
}

export class McpEndpoint {
  readonly #parts: EndpointParts;
  readonly #clients: HttpClients<EndpointClient>;
  readonly #stateless: McpHttpHandler;
  /** The session for a request of the stateless protocol. */
  readonly #sessions = new WeakMap<Request, Session>();

  constructor(parts: EndpointParts, options: HttpClientsOptions) {
    this.#parts = parts;
    this.#clients = new HttpClients(options);
    this.#stateless = createMcpHandler(
      ({ requestInfo }) => {
        const session = requestInfo && this.#sessions.get(requestInfo);
        if (session === undefined) throw new Error("a request of the stateless protocol has no session");
        return parts.newServer(session, false);
      },
      { legacy: parts.sessionless ? "stateless" : "reject", maxSubscriptions: options.most },
    );
    parts.additions?.onChange(() => {
      const { notify } = this.#stateless;
      notify.toolsChanged();
      notify.promptsChanged();
      notify.resourcesChanged();
    });
  }

  async serve(call: EndpointRequest): Promise<Response | Refusal> {
    const { request, text } = call;
    const { answer, body } = request.method === "POST" ? read(text) : {};
    if (answer !== undefined) return Response.json(answer, { status: 400 });
    const isLegacy = await isLegacyRequest(request, body ?? null);
    const serve = isLegacy && !this.#isSessionless(request, body) ? this.#serveSession : this.#serveStateless;
    return serve.call(this, call, body);
  }

  #isSessionless({ method, headers }: Request, body: unknown): boolean {
    if (this.#parts.sessionless !== true || method !== "POST") return false;
    return !headers.has("mcp-session-id") && !beginsSession(body);
  }

  /** Cancels all tool calls, because the server shuts down. Their callers get an error that says so. */
  stopCalls(): void {
    this.#clients.stopCalls();
  }

  async close(): Promise<void> {
    await Promise.all([this.#stateless.close(), this.#clients.close()]);
  }

  /**
   * Serves a request of the stateless protocol. Such requests name no session, so a client is recognized by its token
   * and the name that it gives itself.
   */
  async #serveStateless(
    { request, tokenDigest, backend, over }: EndpointRequest,
    parsedBody: unknown,
  ): Promise<Response | Refusal> {
    const key = `client ${tokenDigest} ${clientName(parsedBody)}`;
    const client = this.#clients.get(key) ?? this.#newClient(backend, tokenDigest);
    if (this.#clients.get(key) === undefined && !this.#clients.add(key, client)) return full;
    this.#clients.note(key, over);
    this.#sessions.set(request, client.session);
    return this.#stateless.fetch(request, { parsedBody });
  }

  #newClient(backend: SharedBackend, tokenDigest: string): EndpointClient {
    const session = new Session(backend, tokenDigest);
    // Tell every listening client that the list of resources changed, because listeners are not known by client. A
    // client that lists again gets only its own sandboxes.
    session.onSandboxesChange(() => this.#stateless.notify.resourcesChanged());
    return { tokenDigest, session, disconnect: async () => undefined };
  }

  async #serveSession(call: EndpointRequest, parsedBody: unknown): Promise<Response | Refusal> {
    const { request, tokenDigest, over } = call;
    const id = request.headers.get("mcp-session-id");
    if (id === null) return beginsSession(parsedBody) ? this.#begin(call, parsedBody) : noSession;
    const key = `session ${id}`;
    const client = this.#clients.get(key);
    if (client?.transport === undefined || client.tokenDigest !== tokenDigest) return unknownSession;
    this.#clients.note(key, over);
    const answer = client.openIds?.enter(parsedBody, over);
    if (answer !== undefined) return Response.json(answer, { status: 400 });
    // A client whose connection was lost opens its stream again before this server has noticed the loss, so the new one counts.
    if (request.method === "GET") client.transport.closeStandaloneSSEStream();
    return client.transport.handleRequest(request, { parsedBody });
  }

  async #begin(
    { request, tokenDigest, backend, over }: EndpointRequest,
    parsedBody: unknown,
  ): Promise<Response | Refusal> {
    const id = randomUUID();
    const key = `session ${id}`;
    const session = new Session(backend, tokenDigest);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => {
        // A sandbox that cannot be deleted ends at its deadline.
        this.#clients.leave(key).catch(() => undefined);
      },
    });
    const server = await this.#parts.newServer(session, true);
    const openIds = new OpenIds();
    const client = { tokenDigest, session, transport, openIds, disconnect: () => server.close() };
    if (!this.#clients.add(key, client)) return full;
    // Before the first wait: a client without a request would be forgotten to make room for another one.
    this.#clients.note(key, over);
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody });
    if (!response.ok) await this.#clients.leave(key);
    return response;
  }
}

/** The messages of a body, or the answer to a body in which one is none. */
function read(text: string): { readonly body?: unknown; readonly answer?: ErrorAnswer } {
  try {
    const value: unknown = JSON.parse(text);
    const isBatch = Array.isArray(value) && value.length > 0;
    const messages = (isBatch ? value : [value]).map(received);
    const answer = messages.find((each) => each.answer !== undefined)?.answer;
    if (answer !== undefined) return { answer };
    // A body that is neither an answer nor a message is passed on as one that MCP does not have, which the SDK refuses.
    const body = messages.map(({ message }, index) => message ?? (isBatch ? value[index] : value));
    return { body: isBatch ? body : body[0] };
  } catch {
    return { answer: notJson };
  }
}

function beginsSession(body: unknown): boolean {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  return messages.some((message) => member(message, "method") === "initialize");
}

function clientName(body: unknown): string {
  const info = member(member(member(body, "params"), "_meta"), CLIENT_INFO_META_KEY);
  return String(member(info, "name") ?? "").slice(0, 200);
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

const full = refused(503, "too many clients are connected; call again in a minute", { "retry-after": "60" });
const noSession = refused(
  400,
  "a session begins with initialize; its Mcp-Session-Id goes with every later request",
);
const unknownSession = refused(
  404,
  "there is no such session, or it has ended; begin another with initialize",
);
