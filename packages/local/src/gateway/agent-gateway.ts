import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { agentEnvelope, Problem } from "@cloud-sandbox/protocol/server";
import { sandboxFailed, sandboxPaused } from "../control-plane/problems.js";
import type { SandboxRecord } from "../control-plane/sandbox-record.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import { AgentConnection } from "./agent-connection.js";
import { forwardedRequestHeaders, forwardedResponseHeaders } from "./forwarded-headers.js";

const prefix = "/agent/";
/** A machine's end is noticed a moment after its sockets close. */
const noticeEndMs = 500;

/**
 * The way to the agents: `/agent/<sandbox id>/…` on the control plane's own port, streamed in both directions.
 *
 * What answers in there is not trusted: it may be slow, hang up in the middle or send nonsense. The account's key
 * is never passed on.
 */
export class AgentGateway {
  readonly #connections = new WeakMap<Machine, AgentConnection>();

  constructor(
    private readonly options: {
      readonly find: (sandboxId: string) => SandboxRecord;
    },
  ) {}

  /** Path, below the control plane's URL, at which a sandbox's agent is reached. */
  static path(sandboxId: string): string {
    return `${prefix}${sandboxId}`;
  }

  /** Whether the request is for an agent. */
  handles(request: IncomingMessage): boolean {
    return request.url?.startsWith(prefix) ?? false;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { sandboxId, path } = parseTarget(request.url ?? "");
      const sandbox = this.options.find(sandboxId);
      if (sandbox.status === "error") throw sandboxFailed(sandbox);
      if (sandbox.status === "paused") throw sandboxPaused(sandboxId);
      await this.#forward(request, response, sandbox, path);
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

  async #forward(
    request: IncomingMessage,
    response: ServerResponse,
    sandbox: SandboxRecord,
    path: string,
  ): Promise<void> {
    const abandoned = new AbortController();
    response.once("close", () => abandoned.abort());
    const answer = await this.connection(sandbox.machine)
      .send({
        method: request.method ?? "GET",
        path,
        headers: forwardedRequestHeaders(request, sandbox.id),
        body: hasBody(request) ? request : undefined,
        signal: abandoned.signal,
      })
      .catch(async (error: unknown) => {
        throw abandoned.signal.aborted ? error : await this.#explainInterruption(sandbox, error);
      });
    response.writeHead(answer.statusCode ?? 502, forwardedResponseHeaders(answer.headers));
    // Once headers are sent, an agent that hangs up can only be shown by hanging up too.
    await pipeline(answer, response);
  }

  async #explainInterruption(sandbox: SandboxRecord, cause: unknown): Promise<unknown> {
    const { id, machine } = sandbox;
    const ended = await Promise.race([
      machine.exited.then(() => true),
      new Promise<false>((resolve) => setTimeout(() => resolve(false), noticeEndMs)),
    ]);
    if (ended) {
      try {
        return sandboxFailed(this.options.find(id));
      } catch (problem) {
        // Deleted, or expired, while it worked.
        return problem;
      }
    }
    // Not a 5xx: clients repeat those, and the code may have run.
    const message = `The agent of sandbox ${id} was killed while it served this request: by the code in the sandbox, or because memory ran out. It has been started again; the files are kept.`;
    return new Problem(409, "EXECUTION_INTERRUPTED", message, { cause, details: { sandbox_id: id } });
  }
}

function parseTarget(url: string): { sandboxId: string; path: string } {
  const rest = url.slice(prefix.length);
  const end = rest.search(/[/?]/);
  const sandboxId = end === -1 ? rest : rest.slice(0, end);
  const path = end === -1 ? "" : rest.slice(end);
  return { sandboxId, path: path.startsWith("/") ? path : `/${path}` };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const problem =
    error instanceof Problem
      ? error
      : new Problem(
          409,
          "AGENT_UNREADABLE",
          "The sandbox's agent sent an answer that is not HTTP. Delete the sandbox and create a new one.",
        );
  const requestId = `req_${crypto.randomUUID().replaceAll("-", "")}`;
  const body = agentEnvelope(problem, { requestId, timestamp: new Date().toISOString() });
  response.writeHead(problem.status, {
    "content-type": "application/json",
    "x-request-id": requestId,
    ...problem.headers,
  });
  response.end(JSON.stringify(body));
  // What the client still sends is of no use; reading it lets the answer arrive.
  request.resume();
}
