import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from "node:http";
import { connect, type Socket } from "node:net";
import { bodyOf, exchange, framing, passOn } from "../relay/exchange.js";
import { messageHeaders } from "../relay/forwarded-headers.js";
import { joinSockets } from "../runtime/host/joined-sockets.js";

const connectLimitMs = 2000;

/** Passes requests on to another server, unchanged, over connections that are used again. */
export class Forwarder {
  readonly #agent = new Agent({ keepAlive: true, noDelay: true });

  /**
   * Has the server at `address` answer a request. False if it cannot be connected to: then nothing was sent. If it breaks off later,
   * the caller's connection is cut, because nobody knows what it has done.
   */
  async request(address: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const body = bodyOf(request);
    const headers = messageHeaders(request);
    const call = sendRequest({
      ...hostAndPort(address),
      agent: this.#agent,
      method: request.method,
      path: request.url,
      headers: { ...headers, ...framing(headers, body) },
    });
    if (!(await isConnected(call))) return false;
    response.once("close", () => {
      if (!response.writableFinished) call.destroy();
    });
    if (response.destroyed) call.destroy();
    try {
      const answer = await exchange(call, body);
      await passOn(answer, response, messageHeaders(answer.message));
    } catch {
      response.destroy();
    }
    return true;
  }

  /** Joins a connection that asked for another protocol with the server at `address`. False if that cannot be connected to. */
  async upgrade(
    address: string,
    request: IncomingMessage,
    connection: Socket,
    head: Buffer,
  ): Promise<boolean> {
    const other = await connected(address);
    if (!other) return false;
    other.on("error", () => undefined);
    other.write(Buffer.concat([headOf(request), head]));
    if (connection.destroyed) other.destroy();
    else joinSockets(connection, other);
    return true;
  }

  close(): void {
    this.#agent.destroy();
  }
}

function hostAndPort(address: string): { host: string; port: number } {
  const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  return { host, port: Number(port) };
}

function isConnected(call: ClientRequest): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => call.destroy(), connectLimitMs);
    const settle = (isOpen: boolean): void => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    call.on("error", () => settle(false));
    call.once("close", () => settle(false));
    call.once("socket", (socket) => {
      if (!socket.connecting) settle(true);
      else socket.once("connect", () => settle(true));
    });
  });
}

function connected(address: string): Promise<Socket | undefined> {
  const socket = connect({ ...hostAndPort(address), allowHalfOpen: true, noDelay: true });
  return new Promise((resolve) => {
    const giveUp = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    const timer = setTimeout(giveUp, connectLimitMs);
    socket.once("error", giveUp).once("connect", () => {
      clearTimeout(timer);
      resolve(socket.off("error", giveUp));
    });
    socket.once("close", () => clearTimeout(timer));
  });
}

/** The head of a request as it came. */
function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}
