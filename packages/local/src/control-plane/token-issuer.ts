import { randomUUID } from "node:crypto";
import { type CryptoKey, exportSPKI, generateKeyPair, SignJWT } from "jose";

/** A day, as the cloud's: clients of the vendor refresh a token that has less than an hour left before each call. */
const lifetimeSeconds = 24 * 60 * 60;

export interface SandboxToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Signs the tokens that let a caller talk to one sandbox's agent. The machines know only the public key. */
export class TokenIssuer {
  private constructor(
    private readonly privateKey: CryptoKey,
    /** Ed25519, SPKI in PEM. */
    readonly publicKey: string,
  ) {}

  static async create(): Promise<TokenIssuer> {
    const { privateKey, publicKey } = await generateKeyPair("EdDSA", { extractable: true });
    return new TokenIssuer(privateKey, await exportSPKI(publicKey));
  }

  async issue(sandboxId: string): Promise<SandboxToken> {
    const issuedAt = Math.floor(Date.now() / 1000);
    const expiresAt = issuedAt + lifetimeSeconds;
    const token = await new SignJWT()
      .setProtectedHeader({ alg: "EdDSA" })
      .setIssuer("cloud-sandbox")
      .setSubject(sandboxId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .setJti(randomUUID())
      .sign(this.privateKey);
    return { token, expiresAt: new Date(expiresAt * 1000) };
  }
}
