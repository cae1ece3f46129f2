import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  request,
} from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { fileTunnel } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import { type Answer, type Body, exchange, framing, relayedAtOnce } from "../relay/exchange.js";
import { openRelayed } from "../relay/relayed-socket.js";
import { httpTarget } from "../runtime/agent-address.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import { AgentSupervisor } from "./agent-supervisor.js";

export interface AgentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Body;
  readonly signal?: AbortSignal;
}

/** What the two texts hold was read out of a request by Node's parser, so no line of theirs ends early. */
interface TunnelRequest {
  readonly path: string;
  readonly authorization: string | string[] | undefined;
  readonly signal: AbortSignal;
}

/** Of its sockets, too. */
const connectionOptions = { keepAlive: true, highWaterMark: relayedAtOnce };

/** Nothing is executed before a connection is given. */
const connectLimitMs = 30_000;

/** A caller who is not read says nothing. */
const stallLookMs = 1000;

/** The one connection with each machine, whoever asks something of it. */
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
 * HTTP to one machine's agent over its socket, with connections kept. No limit on waiting is set here: an execution
 * may be silent for as long as it may last.
 */
export class AgentConnection {
  readonly #connections = new Agent(connectionOptions);
  readonly #supervisor: AgentSupervisor;
  readonly #tunnels = new Set<Socket>();

  constructor(
    private readonly machine: Machine,
    log: (message: string) => void,
  ) {
    this.#supervisor = new AgentSupervisor(machine, log);
    void machine.exited.then(() => {
      this.#connections.destroy();
      // Whose caller does not read is not told of its end.
      for (const tunnel of this.#tunnels) tunnel.destroy();
    });
  }

  /** Resolves with the head of the answer; its body is a stream. */
  async send({ body, headers, ...options }: AgentRequest): Promise<IncomingMessage> {
    const call = request({
      ...options,
      ...httpTarget(this.machine.agentAddress),
      agent: this.#connections,
      headers: { ...headers, ...framing(headers, body), host: "agent" },
    });
    return (await this.#attended(exchange(call, body))).message;
  }

  /** Asks for a WebSocket. */
  upgrade({ headers, ...options }: Omit<AgentRequest, "method" | "body">): Promise<Answer> {
    return this.#connect({
      ...options,
      headers: { ...headers, connection: "Upgrade", upgrade: "websocket", host: "agent" },
    });
  }

  /** Asks for a connection with a port inside the machine. */
  openPort(port: number, authorization: string, signal: AbortSignal): Promise<Answer> {
    const path = `127.0.0.1:${port}`;
    return this.#connect({ method: "CONNECT", path, headers: { host: path, authorization }, signal });
  }

  /** Asks for a connection that nobody reads along. It is the caller's to whom it is lent. */
  async tunnel({ path, authorization, signal }: TunnelRequest): Promise<{ lendTo(caller: Duplex): void }> {
    const head = [
      `GET ${path} HTTP/1.1`,
      "Host: agent",
      "Connection: Upgrade",
      `Upgrade: ${fileTunnel.protocol}`,
      ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ];
    const limited = AbortSignal.any([signal, AbortSignal.timeout(connectLimitMs)]);
    const opening = openRelayed(this.machine.agentAddress, `${head.join("\r\n")}\r\n\r\n`, limited);
    const { answer, joinWith, socket } = await this.#supervisor.attend(opening).catch((error: unknown) => {
      throw limited.aborted && !signal.aborted ? unanswered() : error;
    });
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(answer.toString("latin1", 0, 13)) ?? [];
    if (status !== "101") {
      socket.destroy();
      throw tunnelRefused(status);
    }
    this.#tunnels.add(socket);
    socket.once("close", () => this.#tunnels.delete(socket));
    void this.#supervisor.attend(closed(socket));
    return {
      lendTo: (caller) => {
        this.#cutWhilePaused(socket, caller);
        joinWith(caller);
      },
    };
  }

  /** What is sent to a paused machine would wait; whoever asks anew learns why. What it was asked before goes on when it does. */
  #cutWhilePaused(tunnel: Socket, caller: Duplex): void {
    const cut = (): void => {
      if (this.machine.isPaused) tunnel.destroy();
    };
    const cutStalled = (): void => {
      if (tunnel.writableLength > 0) cut();
    };
    caller.on("data", cut);
    const looking = setInterval(cutStalled, stallLookMs).unref();
    tunnel.once("close", () => clearInterval(looking));
  }

  /** On a connection of its own, of which a direction that has ended does not end the other. */
  async #connect(options: RequestOptions): Promise<Answer> {
    const open = (): Duplex => connect({ ...this.machine.agentAddress, allowHalfOpen: true });
    const call = request({ ...options, createConnection: open });
    const limit = setTimeout(() => giveUp(call), connectLimitMs);
    return this.#attended(exchange(call, undefined)).finally(() => clearTimeout(limit));
  }

  /** Until all of the answer has come, an agent that hangs is noticed. */
  async #attended(call: Promise<Answer>): Promise<Answer> {
    const answer = await this.#supervisor.attend(call);
    void this.#supervisor.attend(closed(answer.connection ?? answer.message));
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
  const message = `The sandbox's agent did not answer within ${connectLimitMs / 1000} s. Try again, or delete the sandbox and create a new one.`;
  return new Problem(409, "AGENT_UNREADABLE", message);
}

function tunnelRefused(status: string | undefined): Problem {
  const how = status === undefined ? "not as HTTP does" : `with ${status}`;
  return new Problem(
    409,
    "CONFLICT",
    `The sandbox's agent answered ${how}, so there is no tunnel. Ask without one.`,
  );
}
