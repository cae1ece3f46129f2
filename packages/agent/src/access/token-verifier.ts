import { controlPlaneScope, type ErrorCode, tokenIssuer } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import { type CryptoKey, decodeJwt, errors, importJWK, importSPKI, type JWK, jwtVerify } from "jose";

const algorithm = "EdDSA";
const maxTokenLength = 8192;
const cacheSize = 256;

/** Admits callers whose token the control plane signed for this sandbox. Knows only the public key. */
export class TokenVerifier {
  /** Tokens found good, with the second they expire in; the oldest goes first. */
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

  /** Throws a problem unless the token is one that the control plane made for itself. */
  async verifyControlPlane(authorization: string | undefined): Promise<void> {
    await this.verify(authorization);
    if (decodeJwt(tokenOf(authorization) ?? "").scope === controlPlaneScope) return;
    throw new Problem(403, "PERMISSION_DENIED", "Only the control plane may do this.");
  }

  /** Throws a 401 problem unless `authorization` carries a good token. */
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

  /** Refuses a token that is none, so that the first real one finds the way trodden. */
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
  refusal("INVALID_TOKEN", "The token is not one for this sandbox. Get its token from the control plane.");

const refusal = (code: ErrorCode, message: string) =>
  new Problem(401, code, message, { headers: { "www-authenticate": "Bearer" } });
