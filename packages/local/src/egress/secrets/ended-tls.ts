import type { Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { authorityOf, EgressProblem } from "../destination.js";
import type { JoinTunnel } from "../dialer.js";
import type { SecuredConnections } from "../secured-connections.js";
import { CertificateAuthority } from "./certificate-authority.js";
import { Http1Forwarding } from "./http1-forwarding.js";
import { failure, type SecretHost, type SecretTunnel, wantsCertificate } from "./secret-host.js";

/** Ends the TLS of programs in sandboxes with hosts that have a secret, and speaks TLS with the real server instead. */
export class EndedTls {
  #authority: CertificateAuthority | undefined;
  readonly #http1 = new Http1Forwarding();

  /** `authority`: default: one that is made for the first sandbox that may have a secret. */
  constructor(
    private readonly secured: SecuredConnections,
    authority?: CertificateAuthority,
  ) {
    this.#authority = authority;
  }

  /** The certificate that programs must trust, in PEM. */
  get authority(): string {
    return this.#certificates.pem;
  }

  /**
   * Connects to the real server. Resolves with what speaks with the program, once the server has proven who it is. Rejects with an
   * EgressProblem otherwise.
   */
  async open(tunnel: SecretTunnel): Promise<JoinTunnel> {
    const upstream = await this.#connect(tunnel);
    // The program may close its connection before it is joined.
    tunnel.signal.addEventListener("abort", () => upstream.destroy(), { once: true });
    let refused: NodeJS.ErrnoException | undefined;
    upstream.once("error", (error: NodeJS.ErrnoException) => {
      if (wantsCertificate(error)) refused = error;
    });
    const host = { ...tunnel, failure: () => refused && failure(refused, tunnel) };
    return (client, head) => {
      if (head && head.length > 0 && !client.readableEnded) client.unshift(head);
      this.#serve(client, upstream, host);
    };
  }

  get #certificates(): CertificateAuthority {
    this.#authority ??= new CertificateAuthority();
    return this.#authority;
  }

  /** HTTP/1.1 is the faster one here, so HTTP/2 is spoken only with servers that speak nothing else, and with programs that do. */
  async #connect({ dial, destination, signal }: SecretTunnel): Promise<TLSSocket> {
    try {
      return await this.secured.open(await dial(), destination, signal);
    } catch (error) {
      const { cause } = error as EgressProblem;
      if ((cause as NodeJS.ErrnoException | undefined)?.code !== noProtocol) throw error;
      return this.secured.open(await dial(), destination, signal, "h2");
    }
  }

  #serve(client: Socket, upstream: TLSSocket, host: SecretHost): void {
    const { destination, handshakeMs } = host;
    let hasAsked = false;
    const request: SecretHost["request"] = (...asked) => {
      hasAsked = true;
      return host.request(...asked);
    };
    const speaksHttp2 = upstream.alpnProtocol === "h2";
    const onlyHttp2 = `${authorityOf(destination)} speaks HTTP/2 only, and the program does not.`;
    let lack =
      "The program ended its TLS handshake with the proxy: it may not trust this server's authority, because it has a list of its own, or may check for one certificate.";
    const server = createServer({
      handshakeTimeout: handshakeMs,
      SNICallback: (name, done) => {
        if (name.toLowerCase() === destination.host) return done(null, this.#certificates.contextFor(name));
        lack = `The program asked for ${JSON.stringify(name.slice(0, 80))} in a tunnel to ${destination.host}.`;
        done(new Error("another name"));
      },
      ALPNCallback: ({ protocols }) => {
        const spoken = speaksHttp2 ? ["h2"] : ["http/1.1", "h2", "http/1.0"];
        const chosen = spoken.find((each) => protocols.includes(each));
        if (chosen === undefined)
          lack = speaksHttp2
            ? onlyHttp2
            : "The program speaks no HTTP within TLS (ALPN), and nothing else may be spoken with a host that has a secret.";
        return chosen;
      },
    });
    server.once("tlsClientError", ({ message }) => {
      const isNoTls = /http request|wrong version|unexpected message|packet length/i.test(message);
      const why = isNoTls
        ? `Only TLS may be spoken with ${authorityOf(destination)}, because it has a secret.`
        : lack;
      request("CONNECT", "").end("refused", why);
      client.destroy();
      upstream.destroy();
    });
    server.once("secureConnection", (program) => {
      program.allowHalfOpen = true;
      program.on("error", () => program.destroy());
      program.once("close", () => {
        upstream.destroy();
        // Some programs check a certificate only when the handshake is over.
        if (!hasAsked) request("CONNECT", "").end("failed", `No request came. ${lack}`);
      });
      const asking = { ...host, request };
      if (program.alpnProtocol !== "h2") {
        if (!speaksHttp2) return this.#http1.serve(program, upstream, asking);
        lack = onlyHttp2;
        return void program.destroy();
      }
      if (speaksHttp2) return void this.#serveHttp2(program, upstream, asking).catch(() => program.destroy());
      // The connection that the server's certificate was checked on speaks HTTP/1.1.
      upstream.destroy();
      this.#connectHttp2(program, asking).catch(() => program.destroy());
    });
    client.once("close", () => upstream.destroy());
    // A program that leaves in its handshake is waited for no longer.
    client.allowHalfOpen = false;
    server.emit("connection", client);
  }

  /** Node's HTTP/2 takes some milliseconds to load, and few programs speak it. */
  async #serveHttp2(program: TLSSocket, upstream: TLSSocket, host: SecretHost): Promise<void> {
    const { forwardHttp2 } = await import("./http2-forwarding.js");
    forwardHttp2(program, upstream, host);
  }

  async #connectHttp2(program: TLSSocket, host: SecretHost): Promise<void> {
    const { dial, destination, signal, request } = host;
    try {
      const upstream = await this.secured.open(await dial(), destination, signal, "h2");
      program.once("close", () => upstream.destroy());
      await this.#serveHttp2(program, upstream, host);
    } catch (error) {
      const why = error instanceof EgressProblem ? error.message : String(error);
      request("CONNECT", "").end("failed", why);
      throw error;
    }
  }
}

/** The server knows none of the application protocols offered. */
const noProtocol = "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL";
