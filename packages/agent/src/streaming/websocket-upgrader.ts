import type { IncomingMessage, ServerResponse } from "node:http";
import {
  agentEnvelope,
  type Call,
  type ContractRouter,
  type IncomingRequest,
  Problem,
  Reply,
  requestId,
} from "@cloud-sandbox/server-kit";
import type { WebSocket, WebSocketServer } from "ws";
import { exhausted } from "../execution/programs/start-failure.js";

/** Size of the largest frame that a client may send, in bytes. */
const maxPayload = 4 * 1024 * 1024;

/** A limit for WebSockets of one kind. */
export interface SocketQuota {
  /** The kind in the plural, for messages such as "32 terminals are open". */
  readonly name: string;
  readonly limit: number;
}

const nothing = Buffer.alloc(0);

/**
 * A handler's decision about an upgrade. Without `accept` the upgrade is refused; `abandon` releases the slot if the
 * handshake fails.
 */
interface Admission {
  accept?: (socket: WebSocket) => void;
  abandon?: () => void;
}

/**
 * Turns upgrade requests into WebSockets. The router decides on them as on any other request: it matches the path,
 * checks token and parameters, and writes the refusals.
 */
export class WebSocketUpgrader {
  readonly #admissions = new WeakMap<IncomingRequest, Admission>();
  readonly #refusals = new WeakMap<IncomingRequest, (error: Error) => void>();
  readonly #open = new Map<SocketQuota, number>();
  readonly #sockets = new Set<WebSocket>();
  #server: Promise<WebSocketServer> | undefined;

  /** Number of open WebSockets. */
  get active(): number {
    return this.#sockets.size;
  }

  /**
   * Accepts the upgrade of a request; called by handlers. `attend` gets the WebSocket after the handshake; a promise that it
   * returns says when the slot is free, if that is not when the WebSocket closes. Throws a 426 problem if the request is not
   * an upgrade, and a 429 problem if the quota is full.
   */
  admit(
    { request, operation }: Pick<Call, "request" | "operation">,
    quota: SocketQuota,
    attend: (socket: WebSocket) => Promise<void> | void,
  ): Reply {
    const admission = this.#admissions.get(request);
    if (!admission) throw upgradeRequired(operation.path);
    const openCount = this.#open.get(quota) ?? 0;
    if (openCount >= quota.limit)
      throw exhausted(`${quota.limit} ${quota.name} are open already, the most at a time. Close one.`);
    this.#open.set(quota, openCount + 1);
    const leave = () => this.#open.set(quota, (this.#open.get(quota) ?? 1) - 1);
    admission.abandon = leave;
    admission.accept = (socket) => {
      this.#sockets.add(socket);
      const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
      void closed.then(() => this.#sockets.delete(socket));
      void (attend(socket) ?? closed).then(leave);
    };
    return new Reply(undefined);
  }

  /** Answers an upgrade request: with a WebSocket if its handler admits it, else with the refusal. */
  async upgrade(request: IncomingMessage, response: ServerResponse, router: ContractRouter): Promise<void> {
    const admission: Admission = {};
    this.#admissions.set(request, admission);
    const neverAborted = () => new AbortController().signal;
    const [server, reply] = await Promise.all([this.#load(), router.answer(request, neverAborted)]);
    const { accept, abandon } = admission;
    const { socket } = response;
    if (!accept || !socket) {
      abandon?.();
      return answer(response, reply);
    }
    let accepted = false;
    const refuse = (error: Error) => answer(response, refusal(noHandshake(error)));
    this.#refusals.set(request, refuse);
    server.handleUpgrade(request, socket, nothing, (opened) => {
      accepted = true;
      response.detachSocket(socket);
      accept(opened);
    });
    if (!accepted) abandon?.();
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  /**
   * Loads the `ws` package at the first connection: it brings 11 MB of Node's modules into memory, which many
   * sandboxes never need.
   */
  #load(): Promise<WebSocketServer> {
    this.#server ??= import("ws").then(({ WebSocketServer }) => {
      const server = new WebSocketServer({
        noServer: true,
        clientTracking: false,
        perMessageDeflate: false,
        maxPayload,
      });
      server.on("wsClientError", (error, _, request) => this.#refusals.get(request)?.(error));
      return server;
    });
    return this.#server;
  }
}

const noHandshake = ({ message }: Error) =>
  new Problem(400, "INVALID_REQUEST", `This is not a valid WebSocket handshake: ${message}.`);

const upgradeRequired = (path: string) =>
  new Problem(426, "INVALID_REQUEST", `${path} is a WebSocket: connect with an upgrade.`, {
    headers: { upgrade: "websocket", connection: "upgrade" },
  });

/** Builds the HTTP reply for a request that is refused before the router and its handlers see it. */
export function refusal(problem: Problem): Reply<string> {
  const id = requestId(undefined);
  const body = agentEnvelope(problem, { requestId: id, timestamp: new Date().toISOString() });
  const headers = { "content-type": "application/json", "x-request-id": id, ...problem.headers };
  return new Reply(JSON.stringify(body), headers, problem.status);
}

export function answer(response: ServerResponse, { status, headers, body = "" }: Reply): void {
  response.writeHead(status, headers);
  response.end(body);
}
