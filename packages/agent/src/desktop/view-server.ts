import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { type Duplex, pipeline } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { readSystemFile } from "../machine/system-file.js";
import type { Browser } from "./browser.js";
import type { Desktop } from "./desktop.js";
import { ViewOnlyInput } from "./view-only-input.js";
import page from "./view-page.html?raw";
import { type ViewerKey, ViewerKeys } from "./viewer-keys.js";

/** The port if no program has it: that of noVNC. */
const usualPort = 6080;
/** Most viewers and browser connections at a time. Each takes two file descriptors. */
const mostConnections = 32;
/** Milliseconds that a request may take to arrive. */
const requestLimitMs = 10_000;
const longestFrame = 4 * 1024 * 1024;

/** Where noVNC's scripts are, below the directory that Debian's package makes. */
export const novnc = "/usr/share/novnc";

/**
 * Serves the live view and the browser's DevTools protocol on a port of the sandbox, which previews reach. Anybody who knows the preview
 * gets the page; the screen and the browser take a key.
 */
export class ViewServer {
  readonly views = new ViewerKeys();
  readonly browsers = new ViewerKeys();
  #server: Promise<Server> | undefined;
  #sockets: Promise<WebSocketServer> | undefined;
  readonly #connections = new Set<Duplex>();

  constructor(
    private readonly desktop: Desktop,
    private readonly browser: Browser,
  ) {}

  /** The port, on which the server listens from the first call on. */
  async port(): Promise<number> {
    this.#server ??= this.#listen(usualPort).catch(() => this.#listen(0));
    const server = await this.#server.catch((error: unknown) => {
      this.#server = undefined;
      throw error;
    });
    return (server.address() as AddressInfo).port;
  }

  /** Ends all views. */
  stopViews(): void {
    this.views.revokeAll();
  }

  async close(): Promise<void> {
    this.views.revokeAll();
    this.browsers.revokeAll();
    const server = await this.#server?.catch(() => undefined);
    server?.close();
    server?.closeAllConnections();
    for (const connection of this.#connections) connection.destroy();
  }

  #listen(port: number): Promise<Server> {
    const server = createServer((request, response) => void this.#answer(request, response));
    server.headersTimeout = requestLimitMs;
    server.requestTimeout = requestLimitMs;
    server.maxConnections = 4 * mostConnections;
    server.on("upgrade", (request, connection, head) => {
      connection.on("error", () => connection.destroy());
      this.#upgrade(request, connection, head).catch(() => connection.destroy());
    });
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => resolve(server.unref()));
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    // Previews by path give each page an origin of its own, from which scripts are loaded as from another one.
    const headers = { "access-control-allow-origin": "*", "x-content-type-options": "nosniff" };
    if (path === "/" || path === "/vnc.html") {
      const type = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };
      response.writeHead(200, { ...headers, ...type, "referrer-policy": "no-referrer" }).end(page);
      return;
    }
    const script = /^\/(?:core|vendor)(?:\/[\w-]+)*\/[\w.-]+\.js$/.test(path)
      ? await readSystemFile(join(novnc, path))
      : "";
    if (script === "") response.writeHead(404, headers).end();
    else
      response.writeHead(200, { ...headers, "content-type": "text/javascript; charset=utf-8" }).end(script);
  }

  async #upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> {
    if (this.#connections.size >= mostConnections) return refuse(connection, "503 Service Unavailable");
    this.#connections.add(connection);
    connection.once("close", () => this.#connections.delete(connection));
    const [, token] = /^\/devtools\/([\w-]+)$/.exec(request.url ?? "") ?? [];
    if (token !== undefined) return this.#openBrowser(request, connection, head, token);
    if (request.url !== "/websockify") return refuse(connection, "404 Not Found");
    const key = await this.views.find(keyOf(request));
    const server = await this.desktop.running();
    if (!key || !server) return refuse(connection, key ? "503 Service Unavailable" : "401 Unauthorized");
    this.#sockets ??= webSocketServer();
    const sockets = await this.#sockets;
    const viewer = await new Promise<WebSocket>((resolve) => {
      sockets.handleUpgrade(request, connection, head, resolve);
    });
    await this.#join(viewer, connect({ path: server.socket }), key);
  }

  async #join(viewer: WebSocket, screen: Socket, { viewOnly, revoked }: ViewerKey): Promise<void> {
    const { createWebSocketStream } = await import("ws");
    const stream = createWebSocketStream(viewer);
    const end = (): void => {
      viewer.terminate();
      screen.destroy();
    };
    endWith(revoked, stream, end);
    if (viewOnly) pipeline(stream, new ViewOnlyInput(), screen, end);
    else pipeline(stream, screen, end);
    pipeline(screen, stream, end);
  }

  /** Forwards the connection to Chromium, without the headers that are about the way to it, such as `Origin`. */
  async #openBrowser(
    request: IncomingMessage,
    connection: Duplex,
    head: Buffer,
    token: string,
  ): Promise<void> {
    const key = await this.browsers.find(token);
    const target = this.browser.target;
    if (!key || !target) return refuse(connection, key ? "503 Service Unavailable" : "401 Unauthorized");
    const chromium = connect({ host: "127.0.0.1", port: target.port });
    const end = (): void => {
      connection.destroy();
      chromium.destroy();
    };
    endWith(key.revoked, connection, end);
    const headers = Object.entries(request.headers).filter(([name]) => name.startsWith("sec-websocket-"));
    const lines = [
      `GET ${target.path} HTTP/1.1`,
      ...[`Host: 127.0.0.1:${target.port}`, "Connection: Upgrade", "Upgrade: websocket"],
      ...headers.map(([name, value]) => `${name}: ${value}`),
    ];
    chromium.write(`${lines.join("\r\n")}\r\n\r\n`);
    chromium.write(head);
    pipeline(connection, chromium, end);
    pipeline(chromium, connection, end);
  }
}

/** Calls `end` when a key is revoked, unless the stream has closed before. */
function endWith(revoked: AbortSignal, stream: Duplex, end: () => void): void {
  if (revoked.aborted) end();
  else revoked.addEventListener("abort", end, { once: true });
  stream.once("close", () => revoked.removeEventListener("abort", end));
}

/** The key that the page sends among the subprotocols, in base64url. */
function keyOf(request: IncomingMessage): string {
  const encoded = /(?:^|,)\s*key\.([\w-]+)\s*(?:,|$)/.exec(
    request.headers["sec-websocket-protocol"] ?? "",
  )?.[1];
  return Buffer.from(encoded ?? "", "base64url").toString();
}

async function webSocketServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import("ws");
  const handleProtocols = (offered: Set<string>) => (offered.has("binary") ? "binary" : false);
  return new WebSocketServer({ noServer: true, handleProtocols, maxPayload: longestFrame });
}

function refuse(connection: Duplex, status: string): void {
  connection.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
