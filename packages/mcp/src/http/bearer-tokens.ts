/** The bearer tokens that HTTP clients must send. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { OptionError } from "../settings.js";

export class BearerTokens {
  readonly #digests: readonly Buffer[];

  /** Without tokens, every request is accepted. */
  constructor(tokens: readonly string[]) {
    this.#digests = tokens.map(digest);
  }

  /**
   * The digest of the token that a request carries; "" if this server needs no token; undefined if the request must be
   * refused. The comparison takes the same time for every token, so that timing reveals nothing about the tokens.
   */
  tokenDigest(authorization: string | undefined): string | undefined {
    if (this.#digests.length === 0) return "";
    const token = digest(bearerToken(authorization) ?? "");
    const matches = this.#digests.filter((known) => timingSafeEqual(known, token));
    return matches[0]?.toString("hex");
  }
}

/** The tokens of `--token`, or `CLOUD_SANDBOX_MCP_TOKEN`: one, or several, one for each client. */
export function parseTokens(text: string | undefined): string[] {
  const tokens = (text ?? "").split(/[\s,]+/).filter((token) => token !== "");
  // The characters are those that RFC 6750 allows. Tokens shorter than 16 characters could be guessed.
  if (tokens.every((token) => /^[A-Za-z0-9._~+/-]{16,}=*$/.test(token))) return tokens;
  throw new OptionError(
    "Each token of CLOUD_SANDBOX_MCP_TOKEN must be 16 or more letters, digits and . _ ~ + / -; `openssl rand -hex 24` makes one.",
  );
}

export function newToken(): string {
  return randomBytes(24).toString("hex");
}

/** The token of an Authorization header. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}

export function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
