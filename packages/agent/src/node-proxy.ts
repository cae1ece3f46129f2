import Module from "node:module";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/**
 * Makes Node.js use the proxy variables. This script is preloaded into every Node.js program, so it does almost
 * nothing at start: `fetch` gets its dispatcher at the first call, and the agents of `http` and `https` are patched
 * when these modules are loaded.
 */

interface Target {
  readonly host?: string | null;
  readonly hostname?: string | null;
  readonly port?: number | string | null;
  readonly protocol?: string | null;
  readonly servername?: string | null;
}
type Connected = (error: Error | null, socket: Socket | null) => void;

const isSecure = ({ protocol }: Target): boolean => protocol === "https:";

/** The proxy for a target. Undefined if no proxy variable is set or NO_PROXY excludes the host. */
function proxyFor(target: Target): URL | undefined {
  const { env } = process;
  const proxy = isSecure(target) ? (env.https_proxy ?? env.HTTPS_PROXY) : (env.http_proxy ?? env.HTTP_PROXY);
  const host = hostOf(target);
  const direct = (env.no_proxy ?? env.NO_PROXY ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  const isDirect = direct.some((entry) => {
    const name = entry.replace(/^\*?\./, "");
    return entry === "*" || host === name || host.endsWith(`.${name}`);
  });
  return proxy && !isDirect && URL.canParse(proxy) ? new URL(proxy) : undefined;
}

const hostOf = ({ hostname, host }: Target): string =>
  (hostname ?? host ?? "localhost").replace(/^\[|\]$/g, "");

function tunnel(proxy: URL, target: Target, connected: Connected): void {
  const { request } = require("node:http") as typeof import("node:http");
  const { connect } = require("node:net") as typeof import("node:net");
  const host = hostOf(target);
  const port = target.port || (isSecure(target) ? 443 : 80);
  const path = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const connectRequest = request({
    method: "CONNECT",
    path,
    headers: { host: path },
    createConnection: () =>
      connect({ host: proxy.hostname.replace(/^\[|\]$/g, ""), port: Number(proxy.port) }),
  });
  connectRequest.once("error", (error) => connected(error, null));
  connectRequest.once("connect", ({ statusCode, statusMessage }, socket, head) => {
    if (statusCode === 200) {
      if (head.length > 0) socket.unshift(head);
      connected(null, socket as Socket);
      return;
    }
    socket.destroy();
    connected(new Error(`The proxy refused ${path}: ${statusCode} ${statusMessage}`), null);
  });
  connectRequest.end();
}

/** A stream through a tunnel that is not open yet, for those who want a socket at once. */
function tunnelStream(proxy: URL, target: Target): Duplex {
  const { Duplex, finished } = require("node:stream") as typeof import("node:stream");
  const opened = new Promise<Socket>((resolve, reject) =>
    tunnel(proxy, target, (error, socket) => (socket ? resolve(socket) : reject(error))),
  );
  const fail = (error: Error): unknown => stream.destroy(error);
  const stream: Duplex = new Duplex({
    read: () => void opened.then((socket) => socket.resume(), fail),
    write: (chunk, _, done) => void opened.then((socket) => socket.write(chunk, done), fail),
    final: (done) => void opened.then((socket) => socket.end(done), fail),
    destroy(error, done) {
      opened.then(
        (socket) => socket.destroy(),
        () => undefined,
      );
      done(error);
    },
  });
  void opened.then((socket) => {
    socket.on("data", (bytes) => stream.push(bytes) || socket.pause());
    socket.once("end", () => stream.push(null));
    finished(socket, (error) => (error ? stream.destroy(error) : undefined));
  }, fail);
  return stream;
}

type Dispatcher = new (options: { connect: (target: Target, connected: Connected) => void }) => object;

/** Sends `fetch` through the proxy, unless the program has set its own dispatcher. */
function proxyFetch(): void {
  const known = Symbol.for("undici.globalDispatcher.1");
  const current = (): object | undefined => Reflect.get(globalThis, known);
  if (current()) return;
  // Accessing Response loads undici, which sets the default dispatcher.
  void globalThis.Response;
  const direct = current();
  if (!direct) return;
  const proxied = new (direct.constructor as Dispatcher)({
    connect(target, connected) {
      const { connect } = require("node:net") as typeof import("node:net");
      const tls = require("node:tls") as typeof import("node:tls");
      const proxy = proxyFor(target);
      const secure = (socket: Socket | undefined): void => {
        const servername = target.servername || hostOf(target);
        const where = socket ? { socket } : { host: hostOf(target), port: Number(target.port || 443) };
        const encrypted = tls.connect({ ...where, servername, ALPNProtocols: ["http/1.1"] });
        encrypted.once("secureConnect", () => connected(null, encrypted));
        encrypted.once("error", (error) => connected(error, null));
      };
      if (proxy) {
        tunnel(proxy, target, (error, socket) => {
          if (socket && isSecure(target)) secure(socket);
          else connected(error, socket);
        });
      } else if (isSecure(target)) {
        secure(undefined);
      } else {
        const socket = connect({ host: hostOf(target), port: Number(target.port || 80) });
        socket.once("connect", () => connected(null, socket));
        socket.once("error", (error) => connected(error, null));
      }
    },
  });
  Reflect.set(globalThis, known, proxied);
}

interface ConnectingAgent {
  /** With `proxyEnv`, a newer Node.js sends the agent's requests through the proxy by itself. */
  readonly options?: { readonly proxyEnv?: object };
  createConnection(options: Target, created: Connected): Socket | undefined;
}

/** Makes all agents use the proxy, also those that a program makes, but for classes that connect in their own way. */
function proxyAgents(agents: ConnectingAgent, protocol: "http:" | "https:"): void {
  const direct = agents.createConnection;
  const connect: ConnectingAgent["createConnection"] = function (this: ConnectingAgent, options, created) {
    const target = { ...options, protocol };
    const isConnected = ["socket", "socketPath"].some((name) => Reflect.get(target, name));
    const proxy = isConnected || this.options?.proxyEnv ? undefined : proxyFor(target);
    if (!proxy) return direct.call(this, options, created);
    // A class that extends Node's, as agentkeepalive, takes what is returned for the socket.
    if (protocol === "https:" && this.createConnection !== connect)
      return direct.call(this, { ...options, socket: tunnelStream(proxy, target) } as Target, created);
    tunnel(proxy, target, (error, socket) => {
      if (!socket || protocol === "http:") created(error, socket);
      else created(null, direct.call(this, { ...options, socket } as Target, created) ?? null);
    });
    return undefined;
  };
  agents.createConnection = connect;
}

interface HttpModule {
  readonly Agent: { readonly prototype: ConnectingAgent };
  /**
   * Turns on the proxy support that newer Node.js versions have built in. Called at the first `fetch` and not at start,
   * where it would cost every program 15 ms.
   */
  setGlobalProxyFromEnv?(): void;
}

const { fetch } = globalThis;
let isPrepared = false;
function prepareFetch(): void {
  if (isPrepared) return;
  isPrepared = true;
  const http = require("node:http") as HttpModule;
  if (http.setGlobalProxyFromEnv) http.setGlobalProxyFromEnv();
  else proxyFetch();
}

globalThis.fetch = Object.defineProperty(
  (...call: Parameters<typeof fetch>) => {
    prepareFetch();
    return fetch(...call);
  },
  "name",
  { value: "fetch" },
);

// The first use of one of these loads undici too, whose dispatcher would then look like one that the program has set.
for (const name of ["FormData", "Headers", "Request", "Response", "WebSocket", "EventSource"]) {
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, name);
  const { get } = descriptor ?? {};
  if (!get) continue;
  const getPrepared = (): unknown => {
    prepareFetch();
    return get.call(globalThis);
  };
  Object.defineProperty(globalThis, name, { ...descriptor, get: getPrepared });
}

/** The hosts of tunnels that programs' own agents asked the proxy for, by their connections. */
const tunnels = new WeakMap<object, string>();

/** Notes the host when a program asks the proxy for a tunnel by itself. */
function noteTunnels(net: typeof import("node:net")): void {
  const { connect } = net;
  const noting = (...call: Parameters<typeof connect>): Socket => {
    const socket = connect.apply(net, call);
    const [target] = call as [unknown];
    const { host, port } = (typeof target === "object" && target !== null ? target : {}) as Target;
    const proxy = proxyFor({ protocol: "https:", host: "" });
    if (proxy?.hostname !== host || Number(proxy?.port) !== Number(port)) return socket;
    const { write } = socket;
    socket.write = (...sent: unknown[]) => {
      socket.write = write;
      const [, asked] = /^CONNECT \[?([^\s\]]+)\]?:\d+ /.exec(String(sent[0])) ?? [];
      if (asked !== undefined) tunnels.set(socket, asked);
      return Reflect.apply(write, socket, sent);
    };
    return socket;
  };
  Object.assign(net, { connect: noting, createConnection: noting });
}

/**
 * Tells TLS the host of a tunnel where a program's own agent does not: https-proxy-agent, which npm has, leaves out addresses, and
 * no certificate is valid for nobody.
 */
function nameTunnels(tls: typeof import("node:tls")): void {
  const { connect } = tls;
  const naming = (...call: unknown[]): unknown => {
    const [options, ...rest] = call as [{ socket?: object; host?: string; servername?: string }];
    const host = options?.socket && !options.host && !options.servername && tunnels.get(options.socket);
    return Reflect.apply(connect, tls, [host ? { ...options, host } : options, ...rest]);
  };
  Object.assign(tls, { connect: naming });
}

const unpatched = new Set(["http", "https", "net", "tls"]);

function prepare(name: string): void {
  if (!unpatched.delete(name)) return;
  if (name === "net") noteTunnels(require("node:net"));
  else if (name === "tls") nameTunnels(require("node:tls"));
  else proxyAgents((require(name) as HttpModule).Agent.prototype, `${name as "http" | "https"}:`);
}

interface Resolve {
  resolve(
    specifier: string,
    context: unknown,
    next: (specifier: string, context: unknown) => unknown,
  ): unknown;
}
const loader = Module as typeof Module & {
  _load: (request: string, ...more: unknown[]) => unknown;
  /** Hooks for modules loaded by `import`. Older Node.js versions lack such hooks. */
  registerHooks?: (hooks: Resolve) => void;
};
const load = loader._load;
loader._load = (request, ...more) => {
  const loaded = load.call(loader, request, ...more);
  prepare(request.replace(/^node:/, ""));
  return loaded;
};
loader.registerHooks?.({
  resolve(specifier, context, next) {
    prepare(specifier.replace(/^node:/, ""));
    return next(specifier, context);
  },
});
