import type { Duplex } from "node:stream";
import type { Agent, Dispatcher } from "undici";
import { clientClosed } from "../../errors/errors.js";
import { Connecting } from "../undici/connecting.js";
import { LightHeaders } from "../undici/light-headers.js";
import {
  established,
  HandshakeRefused,
  type OpeningSocket,
  type OpenSocket,
  type Sockets,
  type WebSocketLike,
} from "./sockets.js";

/**
 * WebSockets of undici on Node.js. Also uses the TCP connection below, to pause, ping and end it, which the WebSocket API
 * cannot do.
 */
export class UndiciSockets implements Sockets {
  #loading: Promise<Loaded> | undefined;
  readonly #open = new Set<UndiciSocket>();
  #closing: Promise<void> | undefined;

  async open({ url, headers, listener, scope }: OpeningSocket): Promise<OpenSocket> {
    if (this.#closing !== undefined) throw clientClosed();
    this.#loading ??= load();
    const { agent, ping, WebSocket } = await this.#loading;
    scope.throwIfAborted();
    const handshake = new Handshake();
    const socket = new WebSocket(url, { headers, dispatcher: agent.compose(handshake.interceptor) });
    let opened: UndiciSocket | undefined;
    let isOver = false;
    const closed = (code: number, reason: string): void => {
      isOver = true;
      if (opened !== undefined) this.#open.delete(opened);
      opened?.end();
      listener.closed(code, reason);
    };
    try {
      await established(socket, { scope, listener: { message: listener.message, closed } });
    } catch (error) {
      throw scope.failure ?? handshake.failure ?? error;
    }
    if (handshake.connection === undefined) throw new Error("undici opened a WebSocket without a connection");
    opened = new UndiciSocket(socket, handshake.connection, () => ping(socket));
    // Add only an open socket: it may already be closed again.
    if (!isOver) this.#open.add(opened);
    return opened;
  }

  close(): Promise<void> {
    for (const socket of this.#open) socket.close();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Destroys the agent. Open WebSockets no longer belong to it, so they are closed separately. */
  async #close(): Promise<void> {
    const loaded = await this.#loading;
    const destroyed = loaded?.agent.destroy();
    loaded?.connecting.destroy();
    await destroyed;
  }
}

interface Loaded {
  agent: Agent;
  connecting: Connecting;
  ping: typeof import("undici").ping;
  WebSocket: typeof import("undici").WebSocket;
}

/** Size of the largest accepted frame, in bytes. */
const largestFrame = 64 * 1024 * 1024;

async function load(): Promise<Loaded> {
  const { Agent, buildConnector, ping, WebSocket } = await import("undici");
  const connecting = new Connecting(buildConnector);
  const agent = new Agent({ connect: connecting.connect, webSocket: { maxPayloadSize: largestFrame } });
  return { agent, connecting, ping, WebSocket };
}

/** Milliseconds to wait for the other side's answer in the closing handshake, before the connection is destroyed. */
const longestGoodbye = 2000;

class UndiciSocket implements OpenSocket {
  readonly #socket: WebSocketLike;
  readonly #connection: Duplex;
  readonly #ping: () => void;
  #goodbye: NodeJS.Timeout | undefined;
  #isHeld = false;

  constructor(socket: WebSocketLike, connection: Duplex, ping: () => void) {
    this.#socket = socket;
    this.#connection = connection;
    this.#ping = ping;
  }

  get buffered(): number {
    return this.#connection.writableLength;
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  pause(): void {
    this.#isHeld = true;
    // Pause later: undici's parser resumes the connection after it has processed what arrived.
    setImmediate(() => {
      if (this.#isHeld) this.#connection.pause();
    });
  }

  resume(): void {
    this.#isHeld = false;
    this.#connection.resume();
  }

  pulse(): number {
    this.#ping();
    return "bytesRead" in this.#connection ? Number(this.#connection.bytesRead) : 0;
  }

  close(code = 1000): void {
    this.resume();
    this.#socket.close(code);
    this.#goodbye ??= setTimeout(() => this.#connection.destroy(), longestGoodbye).unref();
  }

  end(): void {
    clearTimeout(this.#goodbye);
    this.#connection.destroy();
  }
}

/** Characters of an HTTP refusal's body to read. */
const longestRefusal = 64 * 1024;

/**
 * Intercepts the handshake to learn what undici's WebSocket does not expose: why it failed, and the connection if it
 * succeeded.
 */
class Handshake {
  failure: unknown;
  connection: Duplex | undefined;

  readonly interceptor: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch(options, this.#watching(handler));

  #watching(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
    let status = 0;
    let headers: Headers = new LightHeaders({});
    let body = "";
    return {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onRequestUpgrade: (controller, code, received, connection) => {
        this.connection = connection;
        handler.onRequestUpgrade?.(controller, code, received, connection);
      },
      onResponseStart: (_, code, received) => {
        status = code;
        headers = new LightHeaders(received);
      },
      onResponseData: (_, chunk) => {
        if (body.length < longestRefusal) body += chunk.toString();
      },
      onResponseEnd: (controller) => {
        this.failure = new HandshakeRefused(status, headers, body);
        handler.onResponseError?.(controller, new Error("refused"));
      },
      onResponseError: (controller, error) => {
        this.failure ??= error;
        handler.onResponseError?.(controller, error);
      },
    };
  }
}
