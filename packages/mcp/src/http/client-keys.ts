/** Lets each HTTP client send an API key of its own as its bearer token, in place of a token of this server. */
import { isSandboxError, type SandboxClient } from "cloud-sandbox";
import type { SharedBackend } from "../session/shared-backend.js";
import { bearerToken, digest } from "./bearer-tokens.js";
import { type Refusal, refused } from "./request-checks.js";

export class ClientKeys {
  /**
   * The backend of each key, by the key's digest. Only keys that the control plane has accepted are here, so there are no more
   * than its account has made.
   */
  readonly #backends = new Map<string, SharedBackend>();

  constructor(private readonly newBackend: (apiKey: string) => SharedBackend) {}

  /** The digest of the key that a request carries; undefined if it has none. */
  tokenDigest(authorization: string | undefined): string | undefined {
    const key = bearerToken(authorization);
    return key === undefined ? undefined : digest(key).toString("hex");
  }

  /**
   * Finds the sandboxes of a request's key, or returns why the request is refused. Asks the control plane for each
   * request, so that a key is refused as soon as it is revoked.
   */
  async backendFor(authorization: string | undefined): Promise<SharedBackend | Refusal> {
    const key = bearerToken(authorization) ?? "";
    const name = digest(key).toString("hex");
    const backend = this.#backends.get(name) ?? this.newBackend(key);
    const refusal = await refusalOf((await backend.open()).client);
    const kept = this.#backends.get(name);
    if (refusal === undefined) {
      // Another request with this key may have come first.
      if (kept !== undefined && kept !== backend) void backend.close();
      if (kept === undefined) this.#backends.set(name, backend);
      return kept ?? backend;
    }
    if (kept === backend && refusal.status === 401) this.#backends.delete(name);
    if (this.#backends.get(name) !== backend) void backend.close();
    return refusal;
  }

  /** Deletes the sandboxes that clients have made. */
  async close(): Promise<void> {
    await Promise.all([...this.#backends.values()].map((backend) => backend.close()));
  }
}

async function refusalOf(client: SandboxClient): Promise<Refusal | undefined> {
  try {
    // The smallest request that every control plane has and that needs a key.
    for await (const _ of client.sandboxes.list({ limit: 1 })) break;
    return undefined;
  } catch (error) {
    if (!isSandboxError(error)) throw error;
    if (error.name === "AuthenticationError")
      return refused(401, `the server does not accept this API key (${error.code}); send another`, {
        "www-authenticate": "Bearer",
      });
    return refused(503, `the API key could not be checked (${error.code}); call again in a moment`, {
      "retry-after": "5",
    });
  }
}
