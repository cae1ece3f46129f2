import type { Socket } from "node:net";
import { connect, createSecureContext, rootCertificates, type SecureContext, type TLSSocket } from "node:tls";
import { destroyOnAbort } from "../relay/destroy-on-abort.js";
import { authorityOf, type Destination } from "./destination.js";
import { EgressProblem } from "./egress-problem.js";

/** Speaks TLS with the servers of `https:` requests that programs send to the proxy without a tunnel. */
export class SecuredConnections {
  #context: SecureContext | undefined;

  /** `authorities`: certificates in PEM that are trusted beside those that everybody trusts. */
  constructor(private readonly authorities: () => string = () => "") {}

  /** Rejects with an EgressProblem if the server's certificate is not valid for the destination. */
  open(socket: Socket, destination: Destination, signal: AbortSignal): Promise<TLSSocket> {
    this.#context ??= createSecureContext({ ca: [...rootCertificates, this.authorities()] });
    const secured = connect({
      ...{ socket, host: destination.host, secureContext: this.#context, ALPNProtocols: ["http/1.1"] },
      // An address is no server name.
      ...(/^[\d.]+$|:/.test(destination.host) ? {} : { servername: destination.host }),
    });
    return new Promise((resolve, reject) => {
      const stopListening = destroyOnAbort(signal, socket, reject);
      // Stays, so that an error of the open connection ends only this connection.
      secured.on("error", ({ code, message }: NodeJS.ErrnoException) => {
        socket.destroy();
        const why = `${authorityOf(destination)} did not prove by TLS that it is this server (${code ?? message}).`;
        reject(new EgressProblem("unreachable", why));
      });
      secured.once("secureConnect", () => {
        stopListening();
        resolve(secured);
      });
    });
  }
}
