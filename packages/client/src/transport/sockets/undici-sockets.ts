import type { Duplex } from "node:stream";
import type { Dispatcher } from "undici";
import { clientClosed } from "../../errors/errors.js";
import type { AnswerHeaders } from "../http/transport.js";
import { Connecting } from "../undici/connecting.js";
import { agentThroughProxies } from "../undici/machine-proxies.js";
import { answerHeaders, loadUndici } from "../undici/undici-transport.js";
import {
  established,
  HandshakeRefused,
  type OpeningSocket,
  type OpeningTunnel,
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
  readonly #tunnels = new Set<Duplex>();
  #closing: Promise<void> | undefined;

  async open({ url, headers, listener, scope }: OpeningSocket): Promise<OpenSocket> {
    if (this.#closing !== undefined) throw clientClosed();
    this.#loading ??= load();
    const { webSockets, ping, WebSocket } = await this.#loading;
    scope.throwIfAborted();
    const handshake = new Handshake();
    const socket = new WebSocket(url, {
      headers,
      dispatcher: webSockets.agent.compose(handshake.interceptor),
    });
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

  async openTunnel({ url, headers, protocol, scope }: OpeningTunnel): Promise<Duplex> {
    if (this.#closing !== undefined) throw clientClosed();
    this.#loading ??= load();
    const { tunnels, upgrade } = await this.#loading;
    scope.throwIfAborted();
    const handshake = new Handshake();
    const dispatcher = tunnels.agent.compose(handshake.interceptor);
    try {
      const { socket } = await upgrade(url, { dispatcher, headers, protocol, signal: scope.abortSignal });
      this.#tunnels.add(socket);
      socket.once("close", () => this.#tunnels.delete(socket));
      return socket;
    } catch (error) {
      throw scope.failure ?? handshake.failure ?? error;
    }
  }

  close(): Promise<void> {
    for (const socket of this.#open) socket.close();
    for (const tunnel of this.#tunnels) tunnel.destroy();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Destroys the agents. Open connections no longer belong to them, so they are closed separately. */
  async #close(): Promise<void> {
    const loaded = await this.#loading;
    await Promise.all([loaded?.webSockets.destroy(), loaded?.tunnels.destroy()]);
  }
}

interface Loaded {
  webSockets: Opener;
  tunnels: Opener;
  ping: typeof import("undici").ping;
  upgrade: typeof import("undici").upgrade;
  WebSocket: typeof import("undici").WebSocket;
}

/** Size of the largest accepted frame, in bytes. */
const largestFrame = 64 * 1024 * 1024;

async function load(): Promise<Loaded> {
  const undici = await loadUndici();
  const { buildConnector, ping, upgrade, WebSocket } = undici;
  const webSockets = new Connecting(buildConnector);
  const tunnels = new Connecting(buildConnector, { allowHalfOpen: true });
  return {
    webSockets: new Opener(
      agentThroughProxies(undici, {
        connect: webSockets.connect,
        webSocket: { maxPayloadSize: largestFrame },
      }),
      webSockets,
    ),
    tunnels: new Opener(
      agentThroughProxies(undici, { connect: tunnels.connect, allowHalfOpen: true }),
      tunnels,
    ),
    ping,
    upgrade,
    WebSocket,
  };
}

/** Opens connections of one kind. */
class Opener {
  constructor(
    readonly agent: Dispatcher,
    readonly connecting: Connecting,
  ) {}

  async destroy(): Promise<void> {
    const destroyed = this.agent.destroy();
    this.connecting.destroy();
    await destroyed;
  }
}

/** Milliseconds to wait for the other side's answer in the closing handshake, before the connection is destroyed. */
const longestClosingMs = 2000;

class UndiciSocket implements OpenSocket {
  readonly #socket: WebSocketLike;
  readonly #connection: Duplex;
  readonly #ping: () => void;
  #closeTimer: NodeJS.Timeout | undefined;
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
    this.#closeTimer ??= setTimeout(() => this.#connection.destroy(), longestClosingMs).unref();
  }

  end(): void {
    clearTimeout(this.#closeTimer);
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
    let headers: AnswerHeaders = {};
    let body = "";
    return {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onRequestUpgrade: (controller, code, received, connection) => {
        this.connection = connection;
        handler.onRequestUpgrade?.(controller, code, received, connection);
      },
      onResponseStart: (_, code, received) => {
        status = code;
        headers = answerHeaders(received);
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
