import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";
import { wireSandbox } from "./sandbox-service.js";

/** The server's side of a WebSocket, without a library, so that a test can also send what the protocol forbids. */
export class ServedSocket {
  /** The frames that the client has sent, parsed. */
  readonly received: Record<string, unknown>[] = [];
  answersPings = true;
  closed = false;
  /** The code with which the client closed. */
  closeCode: number | undefined;
  #pending = Buffer.alloc(0);

  constructor(
    readonly connection: Duplex,
    readonly onFrame: (frame: Record<string, unknown>, socket: ServedSocket) => void,
  ) {
    connection.on("data", (chunk: Buffer) => this.#take(chunk));
    connection.on("error", () => undefined);
    connection.on("close", () => {
      this.closed = true;
    });
  }

  /** Sends each argument in a frame of its own, and all frames in one packet. */
  send(...frames: readonly (object | string)[]): void {
    const texts = frames.map((frame) => (typeof frame === "string" ? frame : JSON.stringify(frame)));
    this.connection.write(Buffer.concat(texts.map((text) => wireFrame(1, Buffer.from(text)))));
  }

  sendRaw(opcode: number, payload: Buffer): void {
    this.connection.write(wireFrame(opcode, payload));
  }

  close(code: number): void {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    this.connection.write(wireFrame(8, payload));
    this.connection.end();
  }

  #take(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    for (;;) {
      const short = (this.#pending[1] ?? 0) & 0x7f;
      const start = short === 126 ? 8 : short === 127 ? 14 : 6;
      if (this.#pending.length < start) return;
      const length =
        short === 126
          ? this.#pending.readUInt16BE(2)
          : short === 127
            ? Number(this.#pending.readBigUInt64BE(2))
            : short;
      if (this.#pending.length < start + length) return;
      const mask = this.#pending.subarray(start - 4, start);
      const payload = this.#pending
        .subarray(start, start + length)
        .map((byte, index) => byte ^ (mask[index % 4] ?? 0));
      const opcode = (this.#pending[0] ?? 0) & 0x0f;
      this.#pending = this.#pending.subarray(start + length);
      if (opcode === 9 && this.answersPings) this.sendRaw(10, Buffer.from(payload));
      if (opcode === 8) {
        this.closeCode = Buffer.from(payload).readUInt16BE(0);
        this.connection.end(wireFrame(8, Buffer.from(payload)));
      }
      if (opcode !== 1) continue;
      const frame = JSON.parse(Buffer.from(payload).toString()) as Record<string, unknown>;
      this.received.push(frame);
      this.onFrame(frame, this);
    }
  }
}

export function wireFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([0x80 | opcode, length]), payload]);
  const head = Buffer.alloc(10);
  head[0] = 0x80 | opcode;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

export interface FrameServer {
  url: string;
  sockets: ServedSocket[];
  /** The requests that asked for a WebSocket. */
  upgrades: IncomingMessage[];
}

export type OnUpgrade = (request: IncomingMessage, connection: Duplex, count: number) => boolean;

/**
 * A control plane with one sandbox, whose agent is at a path of the same address. `onFrame` answers what the client
 * sends over WebSockets.
 */
export async function frameServer(
  onFrame: (frame: Record<string, unknown>, socket: ServedSocket) => void,
  refuses: OnUpgrade = () => false,
  onOpen: (socket: ServedSocket, count: number) => void = () => undefined,
): Promise<FrameServer> {
  const sockets: ServedSocket[] = [];
  const upgrades: IncomingMessage[] = [];
  const connections = new Set<Duplex>();
  let tokens = 0;
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    response.setHeader("content-type", "application/json");
    const wire = wireSandbox(`http://127.0.0.1:${port}/agent/abc`);
    tokens += 1;
    const isRefresh = request.url?.endsWith("/token/refresh");
    response.end(JSON.stringify(isRefresh ? { auth_token: `fresh-${tokens}` } : wire));
  });
  server.on("connection", (connection) => connections.add(connection));
  server.on("upgrade", (request, connection: Duplex) => {
    upgrades.push(request);
    if (refuses(request, connection, upgrades.length)) return;
    const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    connection.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const socket = new ServedSocket(connection, onFrame);
    sockets.push(socket);
    onOpen(socket, sockets.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const connection of connections) connection.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, upgrades };
}

/** Refuses a WebSocket with an ordinary response. */
export function answerUpgrade(connection: Duplex, status: number, body: unknown, headers = ""): true {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  connection.end(
    `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n` +
      `Connection: close\r\n${headers}\r\n${text}`,
  );
  return true;
}
