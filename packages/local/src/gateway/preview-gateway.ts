import { type IncomingMessage, type OutgoingHttpHeaders, request, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Problem } from "@cloud-sandbox/server-kit";
import { bodyOf, disconnectSignal, exchange, framing, passOn } from "../relay/exchange.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import type { SandboxToken } from "../tokens/token-issuer.js";
import type { AgentGateway } from "./agent-gateway.js";
import { portClosed } from "./port-closed.js";
import { previewRequestHeaders, previewResponseHeaders } from "./preview-headers.js";
import type { PreviewTarget } from "./preview-target.js";
import { refuse } from "./refusal.js";

export interface PreviewGatewayOptions {
  readonly agents: Pick<AgentGateway, "running" | "connection" | "checkAlive" | "explain">;
  /** A token for a sandbox's agent, which relays to its ports. */
  readonly issueToken: (sandboxId: string) => Promise<SandboxToken>;
  readonly isAccountKey: (text: string) => boolean;
  /** The protocol with which a visitor of this `Host` reached the server, or the proxy before it. Default: http. */
  readonly protocolFor?: (host: string | undefined) => "http" | "https";
}

/** A cached token is replaced when it is valid for less than this. */
const renewBeforeMs = 60_000;

/**
 * Forwards HTTP and WebSocket requests to servers on ports inside a sandbox. As in the cloud, previews need no key: anyone
 * who knows the address may use them. Each request has its own connection.
 */
export class PreviewGateway {
  readonly #tokens = new WeakMap<Machine, SandboxToken>();

  constructor(private readonly options: PreviewGatewayOptions) {}

  /** Answers an HTTP request for a port of a sandbox. */
  handle(request: IncomingMessage, response: ServerResponse, target: PreviewTarget): Promise<void> {
    return this.#answer(request, response, target, {});
  }

  /** Answers a request for a WebSocket on a port of a sandbox. */
  handleUpgrade(request: IncomingMessage, response: ServerResponse, target: PreviewTarget): Promise<void> {
    return this.#answer(request, response, target, { connection: "Upgrade", upgrade: "websocket" });
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    target: PreviewTarget,
    upgrade: OutgoingHttpHeaders,
  ): Promise<void> {
    try {
      const machine = await this.options.agents.running(target.sandboxId);
      if (!(target.port > 0 && target.port < 65_536)) throw portNeeded(machine.id, request.headers.host);
      if (target.path.startsWith("/")) await this.#forward(request, response, machine, target, upgrade);
      else {
        // Redirect to the path with its final slash: without it, relative links on the page would not work.
        response.writeHead(308, { location: `${target.prefix}/${target.path}`, "content-length": 0 }).end();
        request.resume();
      }
    } catch (error) {
      refuse(request, response, error, { forPeople: true });
    }
  }

  async #forward(
    incoming: IncomingMessage,
    response: ServerResponse,
    machine: Machine,
    target: PreviewTarget,
    upgrade: OutgoingHttpHeaders,
  ): Promise<void> {
    const { agents, isAccountKey, protocolFor } = this.options;
    const signal = disconnectSignal(response);
    const connection = await this.#open(machine, target.port, signal);
    const body = bodyOf(incoming);
    const headers = previewRequestHeaders(
      incoming,
      target,
      isAccountKey,
      protocolFor?.(incoming.headers.host),
    );
    const call = request({
      createConnection: () => connection,
      method: incoming.method ?? "GET",
      path: target.path,
      headers: { ...headers, ...upgrade, ...framing(headers, body) },
      signal,
    });
    const answer = await exchange(call, body).catch(async (cause: unknown) => {
      if (!signal.aborted) await agents.checkAlive(machine);
      throw portUnreadable(target.port, cause);
    });
    await passOn(answer, response, previewResponseHeaders(answer.message, target, incoming.headers.host));
  }

  async #open(machine: Machine, port: number, signal: AbortSignal): Promise<Duplex> {
    const { agents } = this.options;
    const token = await this.#token(machine);
    const { message, connection } = await agents
      .connection(machine)
      .openPort(port, `Bearer ${token}`, signal)
      .catch((error: unknown) => agents.explain(machine, signal, error));
    if (connection && message.statusCode === 200) return connection;
    connection?.destroy();
    throw portClosed(port, message.statusCode);
  }

  async #token(machine: Machine): Promise<string> {
    const kept = this.#tokens.get(machine);
    if (kept && kept.expiresAt.getTime() - renewBeforeMs > Date.now()) return kept.token;
    const issued = await this.options.issueToken(machine.id);
    this.#tokens.set(machine, issued);
    return issued.token;
  }
}

function portNeeded(sandboxId: string, host: string | undefined): Problem {
  const at = host?.match(/:\d+$/)?.[0] ?? "";
  const message = `The address of a preview needs a port from 1 to 65535: http://<port>-${sandboxId}.localhost${at}/, or the path /preview/${sandboxId}/<port>/.`;
  return new Problem(404, "NOT_FOUND", message);
}

/**
 * The problem for a server that did not answer in HTTP. Not a 5xx: clients retry those, but the request may already
 * have had its effect.
 */
const portUnreadable = (port: number, cause: unknown): Problem =>
  new Problem(409, "PORT_UNREADABLE", `The program on port ${port} of this sandbox did not answer in HTTP.`, {
    hint: "Start a web server on the port, or look at the log of the program there.",
    cause,
    details: { port },
  });
