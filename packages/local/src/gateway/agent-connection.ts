import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { Problem } from "@cloud-sandbox/protocol/server";
import type { Machine } from "../runtime/sandbox-runtime.js";

export interface AgentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** A stream is sent as it comes; undefined sends no body. */
  readonly body?: Readable | Buffer | string | undefined;
  readonly signal?: AbortSignal;
}

/** The answer to a request for an upgrade. */
export interface UpgradeAnswer {
  readonly answer: IncomingMessage;
  /** The connection, where the agent switched to the other protocol. */
  readonly connection: Duplex | undefined;
}

/** Nothing is executed before an upgrade is answered. */
const upgradeLimitMs = 30_000;

/**
 * HTTP to one machine's agent over its socket, with connections kept. No limit on waiting is set here: an execution
 * may be silent for as long as it may last.
 */
export class AgentConnection {
  readonly #connections = new Agent({ keepAlive: true });

  constructor(private readonly machine: Machine) {
    void machine.exited.then(() => this.#connections.destroy());
  }

  /** Resolves with the head of the answer; its body is a stream. */
  send({ method, path, headers, body, signal }: AgentRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const call = request({
        socketPath: this.machine.socketPath,
        agent: this.#connections,
        method,
        path,
        headers: { ...headers, ...framing(headers, body), host: "agent" },
        ...(signal && { signal }),
      });
      call.once("response", resolve);
      call.on("error", reject);
      if (body === undefined || typeof body === "string" || Buffer.isBuffer(body)) {
        call.end(body);
        return;
      }
      body.pipe(call);
      body.once("error", (error) => call.destroy(error));
    });
  }

  /** Asks for a WebSocket, on a connection of its own. */
  upgrade({ path, headers, signal }: Omit<AgentRequest, "method" | "body">): Promise<UpgradeAnswer> {
    return new Promise((resolve, reject) => {
      const call = request({
        // A direction that has ended must not end the other.
        createConnection: () => connect({ path: this.machine.socketPath, allowHalfOpen: true }),
        path,
        headers: { ...headers, connection: "Upgrade", upgrade: "websocket", host: "agent" },
        ...(signal && { signal }),
      });
      const limit = setTimeout(() => call.destroy(unanswered()), upgradeLimitMs);
      const settle = (answer: IncomingMessage, connection?: Duplex): void => {
        clearTimeout(limit);
        resolve({ answer, connection });
      };
      call.once("response", (answer) => settle(answer));
      call.once("upgrade", (answer, connection, head) => {
        if (head.length > 0) connection.unshift(head);
        settle(answer, connection);
      });
      call.on("error", (error) => {
        clearTimeout(limit);
        reject(error);
      });
      call.end();
    });
  }
}

const unanswered = (): Problem =>
  new Problem(
    409,
    "AGENT_UNREADABLE",
    `The sandbox's agent did not answer within ${upgradeLimitMs / 1000} s. Try again, or delete the sandbox and create a new one.`,
  );

/** Node frames a stream by itself only for methods that usually have a body. Unframed, it would be read as a next request. */
function framing(headers: OutgoingHttpHeaders, body: AgentRequest["body"]): OutgoingHttpHeaders {
  const isStream = body !== undefined && typeof body !== "string" && !Buffer.isBuffer(body);
  return isStream && headers["content-length"] === undefined ? { "transfer-encoding": "chunked" } : {};
}
