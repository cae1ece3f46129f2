import { type KeyObject, verify } from "node:crypto";
import { tokenIssuer } from "@cloud-sandbox/protocol";
import { claimsOf } from "../relay/forwarded-headers.js";

/** Who a token was issued to. */
export interface TokenOwner {
  readonly sandboxId: string;
  /** Id of the API key with which it was asked for. Undefined for the server's own key. */
  readonly keyId: string | undefined;
}

interface Known extends TokenOwner {
  /** When the token expires, in milliseconds since 1970. */
  readonly expires: number;
}

/** Tokens that are remembered, so that each is verified once. */
const mostKnown = 1000;

/**
 * Verifies the tokens of sandboxes. Agents verify each token themselves; the control plane does so for what it does on its own
 * account, such as an entry in the audit log.
 */
export class TokenOwners {
  readonly #known = new Map<string, Known>();

  /** `publicKey` returns undefined as long as no token was issued. */
  constructor(private readonly publicKey: () => KeyObject | undefined) {}

  /** The owner of a token. Undefined if this server did not issue it, or if it has expired. */
  of(token: string): TokenOwner | undefined {
    const known = this.#known.get(token) ?? this.#verified(token);
    return known && known.expires > Date.now() ? known : undefined;
  }

  #verified(token: string): Known | undefined {
    const [head, body, signature, ...more] = token.split(".");
    const key = this.publicKey();
    if (!key || head === undefined || body === undefined || signature === undefined || more.length > 0)
      return undefined;
    if (!verify(null, Buffer.from(`${head}.${body}`), key, Buffer.from(signature, "base64url")))
      return undefined;
    const { iss, sub, exp, key: keyId } = claimsOf(token);
    if (iss !== tokenIssuer || typeof sub !== "string" || typeof exp !== "number") return undefined;
    const known = {
      sandboxId: sub,
      keyId: typeof keyId === "string" ? keyId : undefined,
      expires: exp * 1000,
    };
    const [oldest] = this.#known.keys();
    if (this.#known.size >= mostKnown && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(token, known);
    return known;
  }
}
