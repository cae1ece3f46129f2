import type { Sandbox, SandboxClient, SandboxClientOptions } from "../../src/index.js";
import type { Exchange } from "../support/faulty-service.js";

/** How a call ends. */
export interface Outcome {
  /** The class of the error. Undefined if the call succeeds in spite of the fault. */
  error?: string;
  /** The code of the error, if it is the same with undici and with fetch. */
  code?: string;
  kind?: "request" | "idle";
  status?: number;
  closeCode?: number;
}

export interface Fault {
  /** What the server does wrong: words that follow "a server that" in the title of the test. */
  fault: string;
  /** The operation to which the server answers wrongly. Default: the first that `call` requests. */
  at?: string;
  misbehave(exchange: Exchange): void;
  /** What the client is asked to do. Default: get the sandbox. */
  call?(client: SandboxClient): Promise<unknown>;
  outcome: Outcome;
  /** How many requests reach the operation. The client sends at most three. Default: 1. */
  tries?: number;
  /** Whether only undici or only fetch is tested. Default: both. */
  carrier?: "undici" | "fetch";
  /** The certificate of a server that speaks TLS. The client trusts the authority of those that are not self-signed. */
  tls?: CertificateKind;
  /** The address that the client is given, made from the server's address. Default: the server's address. */
  baseUrl?(url: string): string;
  /** Whether the fault concerns several requests, so that an error names no single one. */
  isAboutSeveral?: boolean;
  /** Whether the server is a proxy between the client and another server. */
  isProxy?: boolean;
  options?: SandboxClientOptions;
}

export type CertificateKind = "issued" | "self-signed" | "expired" | "for another host";

export interface FaultGroup {
  title: string;
  faults: readonly Fault[];
}

/** Seconds. The time limit of calls that end in no other way. It also has to be enough for calls that succeed. */
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

/** Gets the sandbox, which works, and then makes a call that goes wrong. */
export function inSandbox(
  at: string,
  call: (sandbox: Sandbox) => Promise<unknown>,
): Pick<Fault, "at" | "call"> {
  return { at, call: async (client) => call(await client.sandboxes.get("abc")) };
}
