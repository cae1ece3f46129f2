import {
  createHash,
  createHmac,
  createPublicKey,
  type KeyObject,
  randomBytes,
  randomUUID,
} from "node:crypto";
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
import type { Settings } from "../store/settings.js";
import { TokenOwners } from "./token-owners.js";

/**
 * Lifetime of a token in seconds: a day, as in the cloud. The vendor's clients refresh a token before each call once it
 * has less than an hour left.
 */
const lifetimeSeconds = 24 * 60 * 60;

/** Lifetime, in seconds, of tokens for the control plane's own calls. Short, because they are used at once. */
const ownLifetimeSeconds = 60;

/** A token prepared longer ago than this is signed again, so that a new sandbox's token is valid for most of a day. */
const maxPreparedAgeMs = 60 * 60 * 1000;

export interface SandboxToken {
  readonly token: string;
  readonly expiresAt: Date;
}

interface Keys {
  readonly privateKey: CryptoKey;
  readonly publicKey: string;
}

/** Signs the tokens that let a caller talk to one sandbox's agent. The machines know only the public key. */
export class TokenIssuer {
  readonly #prepared = new Map<string, { readonly at: number; readonly token: Promise<SandboxToken> }>();

  #secretKey: Promise<string> | undefined;

  #keys: Promise<Keys> | undefined;

  #verifying: KeyObject | undefined;

  /** The owners of the tokens that this issuer has signed. */
  readonly tokenOwners = new TokenOwners(() => this.#verifying);

  private constructor(private readonly make: () => Promise<Keys>) {}

  /** An issuer with a new key. The key is made when it is first needed: programs without a sandbox need none. */
  static create(): TokenIssuer {
    return new TokenIssuer(async () => {
      const { privateKey, publicKey } = await generateKeyPair("EdDSA", { extractable: true });
      return { privateKey, publicKey: await exportSPKI(publicKey) };
    });
  }

  /** Restores an issuer from the key that {@link TokenIssuer.exportKey} returned. */
  static async open(key: string): Promise<TokenIssuer> {
    const verifying = createPublicKey(key);
    const publicKey = verifying.export({ type: "spki", format: "pem" }).toString();
    const privateKey = await importPKCS8(key, "EdDSA", { extractable: true });
    const issuer = new TokenIssuer(async () => ({ privateKey, publicKey }));
    // Tokens of an earlier process are valid before this one signs any.
    issuer.#verifying = verifying;
    return issuer;
  }

  #key(): Promise<Keys> {
    this.#keys ??= this.make().then((keys) => {
      this.#verifying = createPublicKey(keys.publicKey);
      return keys;
    });
    return this.#keys;
  }

  /** The public key that verifies the tokens: Ed25519, SPKI in PEM. */
  async publicKey(): Promise<string> {
    return (await this.#key()).publicKey;
  }

  /** The private key, PKCS #8 in PEM. */
  async exportKey(): Promise<string> {
    return exportPKCS8((await this.#key()).privateKey);
  }

  /** Names the key, and tells nothing about it. */
  async keyName(): Promise<string> {
    return createHash("sha256")
      .update(await this.publicKey())
      .digest("hex")
      .slice(0, 16);
  }

  /** A secret for the machine of one sandbox, the same as long as the key is. */
  machineSecret(sandboxId: string, restores = 0): Promise<string> {
    return this.#secret(restores === 0 ? `machine ${sandboxId}` : `machine ${sandboxId} ${restores}`);
  }

  /** A secret that signs links to ports and files, the same as long as the key is. */
  linkSecret(): Promise<string> {
    return this.#secret("links");
  }

  async #secret(purpose: string): Promise<string> {
    this.#secretKey ??= this.exportKey();
    return createHmac("sha256", await this.#secretKey)
      .update(purpose)
      .digest("hex");
  }

  /** Signs a token in advance for a machine of the warm pool, so that creating a sandbox does not wait for the signature. */
  prepare(sandboxId: string): void {
    this.#prepared.set(sandboxId, { at: Date.now(), token: this.#sign(sandboxId) });
  }

  /** Drops the prepared token of a machine that ended. */
  forget(sandboxId: string): void {
    this.#prepared.delete(sandboxId);
  }

  /** A token for a caller. `keyId` is the caller's API key, undefined for the server's own key. */
  async issue(sandboxId: string, keyId?: string): Promise<SandboxToken> {
    if (keyId !== undefined) return this.#sign(sandboxId, lifetimeSeconds, { key: keyId });
    const prepared = this.#prepared.get(sandboxId);
    this.#prepared.delete(sandboxId);
    return prepared && Date.now() - prepared.at < maxPreparedAgeMs ? prepared.token : this.#sign(sandboxId);
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
      .sign((await this.#key()).privateKey);
    return { token, expiresAt: new Date(expiresAt * 1000) };
  }
}

/** The API key: generated once and saved, so that clients keep working after a restart. */
export async function persistentApiKey(settings: Settings | undefined): Promise<string> {
  const generate = (): string => randomBytes(24).toString("base64url");
  return settings ? settings.once("api_key", generate) : generate();
}

/** A token issuer whose key is saved, so that tokens stay valid across restarts until they expire. */
export async function persistentTokenIssuer(settings: Settings | undefined): Promise<TokenIssuer> {
  if (!settings) return TokenIssuer.create();
  const key = await settings.once("signing_key", () => TokenIssuer.create().exportKey());
  return TokenIssuer.open(key).catch((cause: unknown) => {
    throw new Error("the signing key saved in its database cannot be read", { cause });
  });
}
