import { isIPv4 } from "node:net";
import { Problem } from "@cloud-sandbox/server-kit";

/**
 * Knows the names under which this server may be addressed. A page of any site can have its own name point to loopback, and
 * would then be of one origin with the server; only the `Host` header still tells.
 */
export class HostGuard {
  readonly #allowed: ReadonlySet<string>;
  readonly #isOpen: boolean;

  constructor(listenHost: string, allowedHosts: readonly string[] = []) {
    this.#allowed = new Set([listenHost, ...allowedHosts].map((host) => host.toLowerCase()));
    // Who listens for other machines does not know its names; the key protects it.
    this.#isOpen = !isLoopback(listenHost) && allowedHosts.length === 0;
  }

  /** Why a request with that `Host` header is not served; undefined where it is. */
  refusal(header: string | undefined): Problem | undefined {
    if (this.#isOpen || header === undefined) return undefined;
    const host = header
      .replace(/:\d*$/, "")
      .replace(/^\[(.*)\]$/, "$1")
      .toLowerCase();
    if (isLoopback(host) || this.#allowed.has(host)) return undefined;
    const message =
      "This server does not answer to the name in the Host header. Use its address, or allow the name with --allowed-host.";
    return new Problem(403, "FORBIDDEN", message);
  }
}

function isLoopback(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost") || host === "::1") return true;
  return isIPv4(host) && host.startsWith("127.");
}
