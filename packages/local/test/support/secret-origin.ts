import { once } from "node:events";
import { request } from "node:http";
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { CertificateAuthority } from "../../src/egress/secrets/certificate-authority.js";
import { checkedSecrets } from "../../src/egress/secrets/checked-secrets.js";
import { EgressProxy, type ProxyOptions } from "./egress-proxy.js";

export const originName = "api.origin.test";
export const secretValue = "real-credential-0123456789";

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse, body: string) => void;

/** What a server got in a request. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A server over TLS on loopback that records what it gets, over HTTP/1.1 and HTTP/2. */
export class Origin implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly authority: CertificateAuthority;
  handle: Handler = (_, response) => response.end("ok");

  private constructor(
    readonly server: Http2SecureServer,
    authority: CertificateAuthority,
  ) {
    this.authority = authority;
  }

  static async start(
    options: { readonly cert?: string; readonly key?: string; readonly alpn?: readonly string[] } = {},
  ): Promise<Origin> {
    const authority = new CertificateAuthority();
    const { alpn = ["http/1.1", "h2"] } = options;
    const server = createSecureServer({
      allowHTTP1: alpn.includes("http/1.1"),
      ALPNProtocols: [...alpn],
      ...("key" in options ? { key: options.key, cert: options.cert } : {}),
      SNICallback: (name, done) => done(null, "key" in options ? undefined : authority.contextFor(name)),
    });
    const origin = new Origin(server, authority);
    server.on("request", async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      const body = Buffer.concat(pieces).toString("latin1");
      const { method, url, rawHeaders, headers } = request;
      origin.received.push({ method, url, rawHeaders, headers, body });
      origin.handle(request, response, body);
    });
    server.on("sessionError", () => undefined);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return origin;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get at(): string {
    return `${originName}:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
  }
}

type Spec = ControlPlaneSchemas["Secret"];

/** A server without stored secrets. */
export const noneStored = (name: string): never => {
  throw new Error(`There is no stored secret ${name}.`);
};

/** A sandbox's proxy with secrets, and a program that speaks through it. */
export class SecretProxy implements AsyncDisposable {
  private constructor(readonly proxy: EgressProxy) {}

  static async start(
    origin: Pick<Origin, "authority" | "port">,
    secrets: Readonly<Record<string, Spec>>,
    options: ProxyOptions = {},
  ): Promise<SecretProxy> {
    const proxy = await EgressProxy.start({
      allowPrivate: [`*.origin.test:${origin.port}`],
      resolve: async () => ["127.0.0.1"],
      authorities: () => origin.authority.pem,
      ...options,
    });
    const started = new SecretProxy(proxy);
    started.set(secrets);
    return started;
  }

  /** Sets the secrets of the sandbox. */
  set(secrets: Readonly<Record<string, Spec>>): void {
    const specs = Object.entries(secrets).map(
      ([name, spec]) => [name, { value: secretValue, ...spec }] as const,
    );
    this.proxy.gateway.setSecrets(
      "sandbox",
      checkedSecrets(Object.fromEntries(specs), { policy: this.proxy.egress.policy, find: noneStored }),
    );
  }

  /** The placeholder of a secret. */
  placeholder(name = "TOKEN"): string {
    return this.proxy.egress.secrets.find((secret) => secret.name === name)?.placeholder ?? "";
  }

  /** Opens a tunnel, and speaks TLS in it as a program that trusts the proxy's authority does. */
  async secured(
    authority: string,
    options: { servername?: string; alpn?: string[] } = {},
  ): Promise<TLSSocket> {
    const socket = await this.proxy.tunnel(authority);
    const { servername = authority.replace(/:\d+$/, ""), alpn = ["http/1.1"] } = options;
    const secured = connect({ socket, servername, ca: this.proxy.gateway.authority, ALPNProtocols: alpn });
    secured.on("error", () => undefined);
    await once(secured, "secureConnect");
    return secured;
  }

  /** Sends one request over a tunnel of its own. */
  async ask(
    authority: string,
    { method = "GET", path = "/", headers = {}, body }: Ask = {},
  ): Promise<Answer> {
    const socket = await this.secured(authority);
    const call = request({
      createConnection: () => socket,
      method,
      path,
      headers: { host: authority, ...headers },
    });
    call.end(body);
    const [response] = await once(call, "response");
    const pieces: Buffer[] = [];
    const isWhole = await (async () => {
      for await (const piece of response) pieces.push(piece);
      return true;
    })().catch(() => false);
    socket.destroy();
    return {
      status: response.statusCode,
      headers: response.headers,
      trailers: response.trailers,
      body: Buffer.concat(pieces).toString("latin1"),
      isWhole,
    };
  }

  /** An HTTP/2 session within a tunnel. */
  async http2(authority: string): Promise<ClientHttp2Session> {
    const socket = await this.secured(authority, { alpn: ["h2"] });
    const session = connectHttp2(`https://${authority}`, { createConnection: () => socket });
    session.on("error", () => undefined);
    return session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]();
  }
}

interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly trailers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** Whether the whole body came. */
  readonly isWhole: boolean;
}
