/** The protocol over HTTP, in both of its eras, with a session for each client. */
import { randomUUID } from "node:crypto";
import {
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { Session } from "../session/session.js";
import type { SharedBackend } from "../session/shared-backend.js";
import { type HttpClient, HttpClients, type HttpClientsOptions } from "./http-clients.js";
import { type Refusal, refused } from "./request-checks.js";

export interface EndpointParts {
  /** What speaks the protocol with a client: one for a session, or for one request of the stateless era. */
  readonly newServer: (session: Session) => McpServer;
  readonly backend: SharedBackend;
  /** Whether a request of the era with sessions is served that belongs to none. */
  readonly sessionless?: boolean | undefined;
  readonly log: (line: string) => void;
}

interface EndpointClient extends HttpClient {
  /** Who has begun it: nobody else can go on with it. */
  readonly holder: string;
  /** Of the era with sessions: what carries this one. */
  readonly transport?: WebStandardStreamableHTTPServerTransport;
}

export interface EndpointRequest {
  readonly request: Request;
  /** Its body. */
  readonly text: string;
  /** Whose token it carries; "" where no token is asked for. */
  readonly holder: string;
  /** Fulfilled when the response has been sent, or cannot be any more. */
  readonly over: Promise<void>;
}

export class McpEndpoint {
  readonly #parts: EndpointParts;
  readonly #clients: HttpClients<EndpointClient>;
  readonly #stateless: McpHttpHandler;
  /** Whose session a request of the stateless era belongs to. */
  readonly #sessions = new WeakMap<Request, Session>();

  constructor(parts: EndpointParts, options: HttpClientsOptions) {
    this.#parts = parts;
    this.#clients = new HttpClients(options);
    this.#stateless = createMcpHandler(
      ({ requestInfo }) => {
        const session = requestInfo && this.#sessions.get(requestInfo);
        return parts.newServer(session ?? new Session(parts.backend));
      },
      { legacy: parts.sessionless ? "stateless" : "reject", maxSubscriptions: options.most },
    );
  }

  async serve({ request, text, holder, over }: EndpointRequest): Promise<Response | Refusal> {
    const body = request.method === "POST" ? parsed(text) : undefined;
    if (body === notJson) return refused(400, "the body is not JSON");
    const isLegacy = await isLegacyRequest(request, body ?? null);
    const serve = isLegacy && !this.#isSessionless(request, body) ? this.#serveSession : this.#serveStateless;
    return serve.call(this, request, body, holder, over);
  }

  #isSessionless({ method, headers }: Request, body: unknown): boolean {
    if (this.#parts.sessionless !== true || method !== "POST") return false;
    return !headers.has("mcp-session-id") && !beginsSession(body);
  }

  /** Stops the calls of tools that are under way; whoever waits for one is told that the server ends. */
  stopCalls(): void {
    this.#clients.stopCalls();
  }

  async close(): Promise<void> {
    await Promise.all([this.#stateless.close(), this.#clients.close()]);
  }

  /** The stateless era names no session: a client is known by its token and by the name it gives itself. */
  async #serveStateless(
    request: Request,
    parsedBody: unknown,
    holder: string,
    over: Promise<void>,
  ): Promise<Response | Refusal> {
    const key = `client ${holder} ${clientName(parsedBody)}`;
    const client = this.#clients.get(key) ?? this.#newClient(holder);
    if (this.#clients.get(key) === undefined && !this.#clients.add(key, client)) return full;
    this.#clients.note(key, over);
    this.#sessions.set(request, client.session);
    return this.#stateless.fetch(request, { parsedBody });
  }

  #newClient(holder: string): EndpointClient {
    const session = new Session(this.#parts.backend, holder);
    // Whoever listens is told to list again; what a client is listed is its own.
    session.onSandboxesChange(() => this.#stateless.notify.resourcesChanged());
    return { holder, session, disconnect: async () => undefined };
  }

  async #serveSession(
    request: Request,
    parsedBody: unknown,
    holder: string,
    over: Promise<void>,
  ): Promise<Response | Refusal> {
    const id = request.headers.get("mcp-session-id");
    if (id === null)
      return beginsSession(parsedBody) ? this.#begin(request, parsedBody, holder, over) : noSession;
    const key = `session ${id}`;
    const client = this.#clients.get(key);
    if (client?.transport === undefined || client.holder !== holder) return unknownSession;
    this.#clients.note(key, over);
    return client.transport.handleRequest(request, { parsedBody });
  }

  async #begin(
    request: Request,
    parsedBody: unknown,
    holder: string,
    over: Promise<void>,
  ): Promise<Response | Refusal> {
    const id = randomUUID();
    const key = `session ${id}`;
    const session = new Session(this.#parts.backend, holder);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => {
        // What fails to be deleted ends at its deadline.
        this.#clients.leave(key).catch(() => undefined);
      },
    });
    const server = this.#parts.newServer(session);
    const client = { holder, session, transport, disconnect: () => server.close() };
    if (!this.#clients.add(key, client)) return full;
    await server.connect(transport);
    this.#clients.note(key, over);
    const response = await transport.handleRequest(request, { parsedBody });
    if (!response.ok) await this.#clients.leave(key);
    return response;
  }
}

const notJson = Symbol("not JSON");

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return notJson;
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
