import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  request,
} from "node:http";
import { connect } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { Problem } from "@cloud-sandbox/server-kit";
import { type Answer, type Body, exchange, framing } from "../relay/exchange.js";
import { relayBufferBytes } from "../relay/merging-relay.js";
import { httpTarget } from "../runtime/agent-health.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import { AgentSupervisor } from "./agent-supervisor.js";

export interface AgentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Body;
  readonly signal?: AbortSignal;
}

/** `highWaterMark` also applies to the sockets that this HTTP `Agent` opens. */
const connectionOptions = { keepAlive: true, highWaterMark: relayBufferBytes };

/** The agent accepts a connection before it executes anything, so this limit does not cut long executions. */
const connectLimitMs = 30_000;

/** One {@link AgentConnection} for each machine, shared by everything that calls its agent. */
export class AgentConnections {
  readonly #known = new WeakMap<Machine, AgentConnection>();

  constructor(private readonly log: (message: string) => void) {}

  to(machine: Machine): AgentConnection {
    const connection = this.#known.get(machine) ?? new AgentConnection(machine, this.log);
    this.#known.set(machine, connection);
    return connection;
  }
}

/**
 * HTTP over keep-alive connections to the agent of one machine. Answers have no time limit here, because an execution may
 * print nothing for as long as it may run.
 */
export class AgentConnection {
  readonly #connections = new Agent(connectionOptions);
  readonly #supervisor: AgentSupervisor;
  /** Connections that Node's HTTP `Agent` does not know, or no longer: WebSockets and connections to ports. */
  readonly #raw = new Set<Duplex>();
  #isMachineGone = false;

  constructor(
    private readonly machine: Machine,
    log: (message: string) => void,
  ) {
    this.#supervisor = new AgentSupervisor(machine, log);
    void machine.exited.then(() => {
      this.#isMachineGone = true;
      this.#connections.destroy();
      // Destroy the connections: one whose caller does not read, or has ended its own direction, would not notice that
      // the machine is gone.
      for (const connection of this.#raw) connection.destroy();
    });
  }

  /** Sends a request and resolves with the head of the answer. Its body is a stream. */
  async send({ body, headers, ...options }: AgentRequest): Promise<IncomingMessage> {
    const call = request({
      ...options,
      ...httpTarget(this.machine.agentAddress),
      agent: this.#connections,
      headers: { ...headers, ...framing(headers, body), host: "agent" },
    });
    return (await this.#supervised(exchange(call, body))).message;
  }

  /** Opens a WebSocket to the agent. */
  upgrade({ headers, ...options }: Omit<AgentRequest, "method" | "body">): Promise<Answer> {
    return this.#connect({
      ...options,
      headers: { ...headers, connection: "Upgrade", upgrade: "websocket", host: "agent" },
    });
  }

  /** Opens a connection to a port inside the machine, through the agent. */
  openPort(port: number, authorization: string, signal: AbortSignal): Promise<Answer> {
    const path = `127.0.0.1:${port}`;
    return this.#connect({ method: "CONNECT", path, headers: { host: path, authorization }, signal });
  }

  /** Sends the request on a new connection that can be closed one direction at a time. */
  async #connect(options: RequestOptions): Promise<Answer> {
    const open = (): Duplex => connect({ ...this.machine.agentAddress, allowHalfOpen: true });
    const call = request({ ...options, createConnection: open });
    const limit = setTimeout(() => giveUp(call), connectLimitMs);
    const answer = await this.#supervised(exchange(call, undefined)).finally(() => clearTimeout(limit));
    if (answer.connection !== undefined) this.#keep(answer.connection);
    return answer;
  }

  /** Lets a connection end with the machine. Throws if the machine has ended: nothing would close the connection later. */
  #keep(connection: Duplex): void {
    if (this.#isMachineGone) {
      connection.destroy();
      throw new Error("The machine ended while a connection to it was opened.");
    }
    this.#raw.add(connection);
    connection.once("close", () => this.#raw.delete(connection));
  }

  /** Lets the supervisor notice an agent that hangs before or within the answer. */
  async #supervised(call: Promise<Answer>): Promise<Answer> {
    const answer = await this.#supervisor.supervise(call);
    void this.#supervisor.supervise(closed(answer.connection ?? answer.message));
    return answer;
  }
}

async function closed(stream: Readable): Promise<void> {
  if (!stream.closed) await new Promise((resolve) => stream.once("close", resolve));
}

function giveUp(call: ClientRequest): void {
  call.destroy(unanswered());
}

function unanswered(): Problem {
  const message = `The sandbox's agent did not answer within ${connectLimitMs / 1000} s.`;
  return new Problem(409, "AGENT_UNREADABLE", message, {
    hint: "Try again, or delete the sandbox and create a new one.",
  });
}
