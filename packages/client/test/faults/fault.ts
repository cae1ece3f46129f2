import type { Sandbox, SandboxClient, SandboxClientOptions } from "../../src/index.js";
import type { Exchange } from "../support/faulty-service.js";

/** What a call comes to. The table of docs/reports/client-faults.md says the same. */
export interface Outcome {
  /** The class of the error; undefined where the call succeeds all the same. */
  error?: string;
  /** Where it does not depend on who carries the request. */
  code?: string;
  kind?: "request" | "idle";
  status?: number;
  closeCode?: number;
}

export interface Fault {
  /** As the table says it, after "The server…". */
  fault: string;
  /** The operation that goes wrong. Default: what `call` asks for first. */
  at?: string;
  misbehave(exchange: Exchange): void;
  /** Default: asks for the sandbox. */
  call?(client: SandboxClient): Promise<unknown>;
  outcome: Outcome;
  /** Requests that reach it, of a client that tries three times at most. Default 1. */
  tries?: number;
  /** Default: both. */
  carrier?: "undici" | "fetch";
  /** Speaks TLS, with this certificate; those that are issued are by an authority that the client knows. */
  tls?: CertificateKind;
  /** What the client is told in place of the server's address. */
  baseUrl?(url: string): string;
  /** No single request is at fault. */
  isAboutSeveral?: boolean;
  /** The server is a proxy on the way to another. */
  isProxy?: boolean;
  options?: SandboxClientOptions;
}

export type CertificateKind = "issued" | "self-signed" | "expired" | "for another host";

export interface FaultGroup {
  title: string;
  faults: readonly Fault[];
}

/** Seconds: the limits of those faults that only a limit ends. What is right has to be done within them, too. */
export const shortLimit = 0.6;

export const invalid = (code = "INVALID_RESPONSE"): Outcome => ({ error: "InvalidResponseError", code });
export const broken: Outcome = { error: "NetworkError" };
export const timedOut = (kind: "request" | "idle" = "request"): Pick<Fault, "outcome" | "options"> => ({
  outcome: { error: "TimeoutError", code: "TIMEOUT", kind },
  options: {
    timeouts: {
      requestSeconds: kind === "request" ? shortLimit : 60,
      idleSeconds: kind === "idle" ? shortLimit : 60,
    },
  },
});

/** What is done with the sandbox goes wrong, its own facts do not. */
export function inSandbox(
  at: string,
  call: (sandbox: Sandbox) => Promise<unknown>,
): Pick<Fault, "at" | "call"> {
  return { at, call: async (client) => call(await client.sandboxes.get("abc")) };
}
