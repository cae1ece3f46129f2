import { tokenIssuer } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit/portable";
import type { TestingClock } from "../memory/testing-clock.js";

/** Lifetime of a token in seconds: one day, as in the cloud. */
const lifetime = 24 * 60 * 60;

interface Issued {
  readonly sandboxId: string;
  readonly expiresAt: Date;
}

/** The tokens that were issued. They look like the cloud's, but are valid only because they are stored here. */
export class TokenRegistry {
  readonly #issued = new Map<string, Issued>();

  constructor(private readonly clock: TestingClock) {}

  async issue(sandboxId: string): Promise<{ token: string; expiresAt: Date }> {
    const now = Math.floor(this.clock.now().getTime() / 1000);
    const expiresAt = new Date((now + lifetime) * 1000);
    const jti = globalThis.crypto.randomUUID();
    const claims = { iss: tokenIssuer, sub: sandboxId, iat: now, exp: now + lifetime, jti };
    const signature = globalThis.crypto.randomUUID().replaceAll("-", "");
    const token = `${encoded({ alg: "none" })}.${encoded(claims)}.${signature}`;
    this.#issued.set(token, { sandboxId, expiresAt });
    return { token, expiresAt };
  }

  /** Throws a 401 problem unless the token was issued for this sandbox. */
  verify(sandboxId: string, token: string): true {
    if (token === "")
      throw refusal(
        "AUTHENTICATION_REQUIRED",
        "Send the sandbox's token as Authorization: Bearer <auth_token>.",
      );
    const issued = this.#issued.get(token);
    if (issued?.sandboxId !== sandboxId)
      throw refusal(
        "INVALID_TOKEN",
        "The token belongs to no sandbox or to another one. Get this sandbox's token from the control plane.",
      );
    if (issued.expiresAt <= this.clock.now())
      throw refusal("TOKEN_EXPIRED", "The token has expired. Refresh it at the control plane.");
    return true;
  }
}

const refusal = (
  code: "AUTHENTICATION_REQUIRED" | "INVALID_TOKEN" | "TOKEN_EXPIRED",
  message: string,
): Problem => new Problem(401, code, message, { headers: { "www-authenticate": "Bearer" } });

const encoded = (value: object): string =>
  btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
