import { createPublicKey, randomUUID } from "node:crypto";
import { controlPlaneScope } from "@cloud-sandbox/protocol";
import {
  type CryptoKey,
  exportPKCS8,
  exportSPKI,
  generateKeyPair,
  importPKCS8,
  type JWTPayload,
  SignJWT,
} from "jose";

/** A day, as the cloud's: clients of the vendor refresh a token that has less than an hour left before each call. */
const lifetimeSeconds = 24 * 60 * 60;

/** Used at once. */
const ownLifetimeSeconds = 60;

/** A machine may wait for long; what it gives its owner shall be worth most of a day. */
const preparedMs = 60 * 60 * 1000;

export interface SandboxToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Signs the tokens that let a caller talk to one sandbox's agent. The machines know only the public key. */
export class TokenIssuer {
  readonly #prepared = new Map<string, { readonly at: number; readonly token: Promise<SandboxToken> }>();

  private constructor(
    private readonly privateKey: CryptoKey,
    /** Ed25519, SPKI in PEM. */
    readonly publicKey: string,
  ) {}

  static async create(): Promise<TokenIssuer> {
    const { privateKey, publicKey } = await generateKeyPair("EdDSA", { extractable: true });
    return new TokenIssuer(privateKey, await exportSPKI(publicKey));
  }

  /** Goes on with the key of an issuer before, as {@link TokenIssuer.exportKey} gave it. */
  static async open(key: string): Promise<TokenIssuer> {
    const publicKey = createPublicKey(key).export({ type: "spki", format: "pem" }).toString();
    return new TokenIssuer(await importPKCS8(key, "EdDSA", { extractable: true }), publicKey);
  }

  /** The private key, PKCS #8 in PEM. */
  exportKey(): Promise<string> {
    return exportPKCS8(this.privateKey);
  }

  /** Signs a token ahead, for a sandbox that nobody has yet: its create need not wait for that. */
  prepare(sandboxId: string): void {
    this.#prepared.set(sandboxId, { at: Date.now(), token: this.#sign(sandboxId) });
  }

  /** Drops what was prepared for a sandbox that nobody got. */
  forget(sandboxId: string): void {
    this.#prepared.delete(sandboxId);
  }

  async issue(sandboxId: string): Promise<SandboxToken> {
    const prepared = this.#prepared.get(sandboxId);
    this.#prepared.delete(sandboxId);
    return prepared && Date.now() - prepared.at < preparedMs ? prepared.token : this.#sign(sandboxId);
  }

  /** A token for this control plane's own calls. */
  async issueOwn(sandboxId: string): Promise<string> {
    return (await this.#sign(sandboxId, ownLifetimeSeconds, { scope: controlPlaneScope })).token;
  }

  async #sign(sandboxId: string, lifetime = lifetimeSeconds, claims: JWTPayload = {}): Promise<SandboxToken> {
    const issuedAt = Math.floor(Date.now() / 1000);
    const expiresAt = issuedAt + lifetime;
    const token = await new SignJWT(claims)
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
