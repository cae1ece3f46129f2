import { controlPlaneScope, type ErrorCode, tokenIssuer } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import { type CryptoKey, decodeJwt, errors, importJWK, importSPKI, type JWK, jwtVerify } from "jose";

const algorithm = "EdDSA";
const maxTokenLength = 8192;
const cacheSize = 256;

/**
 * Checks that a caller's token was signed by the control plane for this sandbox. The verifier holds only the public
 * key, so code in the sandbox cannot use it to make tokens.
 */
export class TokenVerifier {
  /** Maps each verified token to its expiry in Unix seconds. The oldest entry is evicted first. */
  readonly #verified = new Map<string, number>();

  private constructor(
    private readonly key: CryptoKey | Uint8Array,
    private readonly sandboxId: string,
  ) {}

  static async create(publicKey: string | JWK, sandboxId: string): Promise<TokenVerifier> {
    const key =
      typeof publicKey === "string"
        ? await importSPKI(publicKey, algorithm)
        : await importJWK(publicKey, algorithm);
    return new TokenVerifier(key, sandboxId);
  }

  /**
   * Throws a problem unless the token is valid and carries the scope that the control plane reserves for its own
   * tokens.
   */
  async verifyControlPlane(authorization: string | undefined): Promise<void> {
    await this.verify(authorization);
    if (decodeJwt(tokenOf(authorization) ?? "").scope === controlPlaneScope) return;
    throw new Problem(403, "PERMISSION_DENIED", "Only the control plane may call this operation.");
  }

  /** Throws a 401 problem unless the `authorization` header carries a valid token. */
  async verify(authorization: string | undefined): Promise<true> {
    const token = tokenOf(authorization);
    if (token === undefined)
      throw refusal(
        "AUTHENTICATION_REQUIRED",
        "Send the sandbox's token as Authorization: Bearer <auth_token>.",
      );
    const expires = this.#verified.get(token);
    if (expires !== undefined && expires > Date.now() / 1000) return true;
    if (token.length > maxTokenLength) throw invalid();
    this.#remember(token, await this.#expiry(token));
    return true;
  }

  /**
   * Verifies a fake token, which fails, so that the signature code is loaded and compiled before the first real token
   * arrives.
   */
  async warmUp(): Promise<void> {
    const header = Buffer.from(JSON.stringify({ alg: algorithm })).toString("base64url");
    await this.verify(`Bearer ${header}.e30.${"A".repeat(86)}`).catch(() => undefined);
  }

  async #expiry(token: string): Promise<number> {
    try {
      const { payload } = await jwtVerify(token, this.key, {
        algorithms: [algorithm],
        issuer: tokenIssuer,
        subject: this.sandboxId,
        requiredClaims: ["exp"],
      });
      return payload.exp ?? 0;
    } catch (error) {
      if (error instanceof errors.JWTExpired)
        throw refusal("TOKEN_EXPIRED", "The token has expired. Refresh it at the control plane.");
      throw invalid();
    }
  }

  #remember(token: string, expires: number): void {
    this.#verified.delete(token);
    this.#verified.set(token, expires);
    const oldest = this.#verified.size > cacheSize ? this.#verified.keys().next().value : undefined;
    if (oldest !== undefined) this.#verified.delete(oldest);
  }
}

const tokenOf = (authorization: string | undefined) => /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];

const invalid = () =>
  refusal(
    "INVALID_TOKEN",
    "The token belongs to no sandbox or to another one. Get this sandbox's token from the control plane.",
  );

const refusal = (code: ErrorCode, message: string) =>
  new Problem(401, code, message, { headers: { "www-authenticate": "Bearer" } });
