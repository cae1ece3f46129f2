import type { Socket } from "node:net";
import { authorityOf, type Destination, parseAuthority } from "../destination.js";
import type { LoggedRequest } from "../egress-log.js";
import { failedAnswer } from "../failed-answer.js";
import { RequestRefusal } from "./replaced-head.js";
import type { Secret } from "./secret.js";

/** A host that has a secret, as a program asks for it in one tunnel. */
export interface SecretHost extends SecretTunnel {
  /** Why the server refuses all requests. Undefined if it does not. */
  readonly failure: () => string | undefined;
}

/** What a tunnel to a host that has a secret is opened with. */
export interface SecretTunnel {
  readonly destination: Destination;
  /** The secrets that may be sent to it. */
  readonly secrets: readonly Secret[];
  /** The sandbox's other secrets, whose placeholders are refused here. */
  readonly others: readonly Secret[];
  /** Why the sandbox's rules refuse a request to it; undefined if they do not. */
  readonly refuse: (method: string, target: string) => string | undefined;
  /** Logs a request to it. */
  readonly request: (method: string, target: string) => LoggedRequest;
  /** Opens a connection to it, as the sandbox's rules allow. */
  readonly dial: () => Promise<Socket>;
  readonly signal: AbortSignal;
  /** Milliseconds that a program's TLS handshake may take. */
  readonly handshakeMs: number;
}

/** Throws unless a `Host` or an `:authority` is that of the tunnel. */
export function requireHost(authority: string | undefined, { destination }: SecretHost): void {
  const named = parseAuthority(authority ?? "", 443);
  if (named?.host !== destination.host || named.port !== destination.port)
    throw new RequestRefusal(421, `This tunnel is for ${authorityOf(destination)} alone.`);
}

/** Throws if the sandbox's rules refuse the request. */
export function requireAllowed(method: string, target: string, { refuse }: SecretHost): void {
  const refusal = refuse(method, target);
  if (refusal !== undefined) throw new RequestRefusal(403, refusal);
}

/** Why the real server did not answer, without what an error may repeat of its bytes. */
export function failure(error: NodeJS.ErrnoException, { destination }: SecretTunnel): string {
  const at = authorityOf(destination);
  if (wantsCertificate(error)) return `${at} wants a certificate of its client, which a secret cannot be.`;
  return failedAnswer(at, error);
}

/** Whether a server refuses a client without a certificate. */
export const wantsCertificate = ({ code = "" }: NodeJS.ErrnoException): boolean =>
  /CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE/.test(code);
