import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Problem, splice, switchProtocols, upgradeResponse } from "@cloud-sandbox/protocol/server";
import { sandboxFailed } from "../control-plane/problems.js";
import { type ReachableSandbox, reachableMachine } from "../control-plane/sandbox-record.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import { AgentConnection, type AgentRequest } from "./agent-connection.js";
import { type AgentTarget, agentTarget } from "./agent-target.js";
import { forwardedRequestHeaders, forwardedResponseHeaders } from "./forwarded-headers.js";
import { refuse } from "./refusal.js";

/** A machine's end is noticed a moment after its sockets close. */
const noticeEndMs = 500;

/**
 * The way to the agents on the control plane's own port, streamed in both directions: `/agent/<sandbox id>/…`, and at
 * the root for callers with a sandbox's token.
 *
 * What answers in there is not trusted: it may be slow, hang up in the middle or send nonsense. The account's key
 * is never passed on.
 */
export class AgentGateway {
  readonly #connections = new WeakMap<Machine, AgentConnection>();

  constructor(
    private readonly options: {
      /** Throws what there is to say of a sandbox that is gone. */
      readonly find: (sandboxId: string) => ReachableSandbox;
    },
  ) {}

  /** Answers a request for an agent. */
  async handle(request: IncomingMessage, response: ServerResponse, target: AgentTarget): Promise<void> {
    try {
      await this.#forward(request, response, this.#running(target.sandboxId), target.path);
    } catch (error) {
      refuse(request, response, error);
    }
  }

  /** Answers a request for a WebSocket, which only agents have. */
  async handleUpgrade(request: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> {
    const response = upgradeResponse(request, connection, head);
    try {
      const target = agentTarget(request);
      if (!target) throw tokenNeeded();
      await this.#forwardUpgrade(request, response, this.#running(target.sandboxId), target.path);
    } catch (error) {
      refuse(request, response, error);
    }
  }

  /** The connection to a machine's agent, for the control plane's own requests too. */
  connection(machine: Machine): AgentConnection {
    const connection = this.#connections.get(machine) ?? new AgentConnection(machine);
    this.#connections.set(machine, connection);
    return connection;
  }

  /** Sends a request that is the control plane's own; throws the problem that says why it is not answered. */
  async send(sandboxId: string, request: AgentRequest): Promise<IncomingMessage> {
    const machine = this.#running(sandboxId);
    return this.connection(machine)
      .send(request)
      .catch((error: unknown) => this.#explain(machine, request.signal, error));
  }

  #running(sandboxId: string): Machine {
    return reachableMachine(this.options.find(sandboxId));
  }

  async #forward(
    request: IncomingMessage,
    response: ServerResponse,
    machine: Machine,
    path: string,
  ): Promise<void> {
    const { signal } = abandonment(response);
    const answer = await this.connection(machine)
      .send({
        method: request.method ?? "GET",
        path,
        headers: forwardedRequestHeaders(request, machine.id),
        body: hasBody(request) ? request : undefined,
        signal,
      })
      .catch((error: unknown) => this.#explain(machine, signal, error));
    response.writeHead(answer.statusCode ?? 502, forwardedResponseHeaders(answer.headers));
    // Once headers are sent, an agent that hangs up can only be shown by hanging up too.
    await pipeline(answer, response);
  }

  async #forwardUpgrade(
    request: IncomingMessage,
    response: ServerResponse,
    machine: Machine,
    path: string,
  ): Promise<void> {
    const { signal } = abandonment(response);
    const headers = forwardedRequestHeaders(request, machine.id);
    const { answer, connection } = await this.connection(machine)
      .upgrade({ path, headers, signal })
      .catch((error: unknown) => this.#explain(machine, signal, error));
    if (connection === undefined) {
      response.writeHead(answer.statusCode ?? 502, forwardedResponseHeaders(answer.headers));
      await pipeline(answer, response);
      return;
    }
    const client = switchProtocols(response, forwardedResponseHeaders(answer.headers));
    if (client) splice(client, connection);
    else connection.destroy();
  }

  async #explain(machine: Machine, abandoned: AbortSignal | undefined, cause: unknown): Promise<never> {
    if (abandoned?.aborted || cause instanceof Problem || isParseError(cause)) throw cause;
    const ended = await Promise.race([
      machine.exited.then(() => true),
      new Promise<false>((resolve) => setTimeout(() => resolve(false), noticeEndMs)),
    ]);
    const { id } = machine;
    // Deleted, expired or stopped while it worked: then that is said.
    if (ended) {
      const sandbox = this.options.find(id);
      reachableMachine(sandbox);
      throw sandboxFailed(sandbox);
    }
    // Not a 5xx: clients repeat those, and the code may have run.
    const message = `The agent of sandbox ${id} was killed while it served this request: by the code in the sandbox, or because memory ran out. It has been started again; the files are kept.`;
    throw new Problem(409, "EXECUTION_INTERRUPTED", message, { cause, details: { sandbox_id: id } });
  }
}

/** What Node's parser makes of an answer that is not HTTP, or whose head does not end. */
const isParseError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("HPE_");

/** Aborts when the client goes away before it has its answer. */
function abandonment(response: ServerResponse): AbortController {
  const abandoned = new AbortController();
  response.once("close", () => abandoned.abort());
  return abandoned;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

const tokenNeeded = (): Problem =>
  new Problem(
    401,
    "AUTHENTICATION_REQUIRED",
    "Send the sandbox's token as Authorization: Bearer <auth_token>, or use the address that public_host gives.",
    { headers: { "www-authenticate": "Bearer" } },
  );
