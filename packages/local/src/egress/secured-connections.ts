import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import {
  type ConnectionOptions,
  connect,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import { destroyOnAbort } from "../relay/destroy-on-abort.js";
import { authorityOf, type Destination, EgressProblem } from "./destination.js";

/** Bytes that are read ahead: with Node's 16 KiB, large answers would mostly wait. */
const readAheadBytes = 256 * 1024;

/** Speaks TLS with servers in place of programs in sandboxes, and checks their certificates as strictly as browsers do. */
export class SecuredConnections {
  #context: SecureContext | undefined;

  /** `authorities`: certificates in PEM that are trusted beside those that everybody trusts. */
  constructor(private readonly authorities: () => string = () => "") {}

  /** Rejects with an EgressProblem if the server's certificate is not valid for the destination, or if it refuses the protocol. */
  open(
    socket: Socket,
    destination: Destination,
    signal: AbortSignal,
    protocol: "http/1.1" | "h2" = "http/1.1",
  ): Promise<TLSSocket> {
    this.#context ??= createSecureContext({ ca: [...rootCertificates, this.authorities()] });
    const isAddress = /^[\d.]+$|:/.test(destination.host);
    const options: ConnectionOptions & { highWaterMark: number } = {
      socket,
      host: destination.host,
      secureContext: this.#context,
      ALPNProtocols: [protocol],
      highWaterMark: readAheadBytes,
      checkServerIdentity: (_, { raw }) => {
        const certificate = new X509Certificate(raw);
        const isFor = isAddress
          ? certificate.checkIP(destination.host)
          : certificate.checkHost(destination.host, { subject: "never", partialWildcards: false });
        return isFor === undefined ? new Error("its certificate does not have this name") : undefined;
      },
      // An address is no server name.
      ...(isAddress ? {} : { servername: destination.host }),
    };
    const secured = connect(options);
    // A session of HTTP/2 learns that its server has left when the connection is closed, and not when it is half so.
    if (protocol === "h2") secured.allowHalfOpen = false;
    return new Promise((resolve, reject) => {
      const stopListening = destroyOnAbort(signal, socket, reject);
      const fail = (why: string, cause?: Error): void => {
        socket.destroy();
        reject(new EgressProblem("unreachable", `${authorityOf(destination)} ${why}`, { cause }));
      };
      // Stays, so that an error of the open connection ends only this connection.
      secured.on("error", (error: NodeJS.ErrnoException) => {
        fail(`did not prove by TLS that it is this server (${error.code ?? error.message}).`, error);
      });
      secured.once("close", () => fail("closed the connection while TLS began."));
      secured.once("secureConnect", () => {
        stopListening();
        if (protocol === "h2" && secured.alpnProtocol !== "h2") return fail("does not speak HTTP/2.");
        resolve(secured);
      });
    });
  }
}
