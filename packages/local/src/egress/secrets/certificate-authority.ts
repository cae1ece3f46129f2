import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import { bits, boolean, identifier, integer, octets, sequence, set, tagged, text, time } from "./der.js";

const dayMs = 24 * 60 * 60 * 1000;
const authorityDays = 3650;
/** Browsers are about to refuse certificates of servers that are valid for longer. */
const serverDays = 47;
/** A pattern of hosts lets a program ask for any number of names. */
const mostServers = 256;

const ecdsaWithSha256 = sequence(identifier("1.2.840.10045.4.3.2"));
const longestCommonName = 64;

interface Server {
  readonly context: SecureContext;
  readonly madeAt: number;
}

/**
 * Signs the certificates with which the egress proxy answers in place of servers that have a secret. Its key is in the memory of
 * this process, and sealed in its store if it has a key for that. The one that all these certificates share is in memory alone.
 */
export class CertificateAuthority {
  readonly #key: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  readonly #name: string;
  readonly #serverKey = newKey();
  readonly #serverKeyPem = this.#serverKey.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  readonly #servers = new Map<string, Server>();
  /** The authority's own certificate, in PEM, which programs in sandboxes trust. */
  readonly pem: string;

  /** `exported`: what another one {@link exported}, which this is then the same as. Default: a new one. */
  constructor(exported?: string) {
    if (exported === undefined) {
      this.#key = newKey();
      this.#name = `Cloud Sandbox egress ${randomBytes(4).toString("hex")}`;
      this.pem = this.#own();
    } else {
      const { key, name, pem } = JSON.parse(exported) as { key: string; name: string; pem: string };
      const privateKey = createPrivateKey(key);
      this.#key = { privateKey, publicKey: createPublicKey(privateKey) };
      this.#name = name;
      this.pem = pem;
    }
  }

  /** All that makes this authority, its key included. */
  get exported(): string {
    const key = this.#key.privateKey.export({ type: "pkcs8", format: "pem" });
    return JSON.stringify({ key, name: this.#name, pem: this.pem });
  }

  #own(): string {
    return this.#certificate({
      subject: this.#name,
      key: this.#key.publicKey,
      days: authorityDays,
      extensions: [
        extension("2.5.29.19", true, sequence(boolean(true), integer(Buffer.from([0])))),
        // keyCertSign
        extension("2.5.29.15", true, bits(Buffer.from([0x04]), 2)),
      ],
    });
  }

  /** The certificate and key for a host. They are kept for half of the certificate's life. */
  contextFor(host: string): SecureContext {
    const known = this.#servers.get(host);
    if (known && Date.now() - known.madeAt < (serverDays / 2) * dayMs) return known.context;
    const [oldest] = this.#servers.keys();
    if (oldest !== undefined && this.#servers.size >= mostServers) this.#servers.delete(oldest);
    const identity = this.identityFor(host);
    const context = createSecureContext({ key: identity, cert: identity });
    this.#servers.delete(host);
    this.#servers.set(host, { context, madeAt: Date.now() });
    return context;
  }

  /** A certificate for a host and its key, in PEM. */
  identityFor(host: string): string {
    const certificate = this.#certificate({
      subject: host.length <= longestCommonName ? host : "Cloud Sandbox",
      key: this.#serverKey.publicKey,
      days: serverDays,
      extensions: [
        extension("2.5.29.19", true, sequence()),
        // digitalSignature
        extension("2.5.29.15", true, bits(Buffer.from([0x80]), 7)),
        // serverAuth
        extension("2.5.29.37", false, sequence(identifier("1.3.6.1.5.5.7.3.1"))),
        extension("2.5.29.17", false, sequence(tagged(2, Buffer.from(host), false))),
        extension("2.5.29.35", false, sequence(tagged(0, keyIdentifier(this.#key.publicKey), false))),
      ],
    });
    return certificate + this.#serverKeyPem;
  }

  #certificate({ subject, key, days, extensions }: Contents): string {
    // Sandboxes' clocks may be behind.
    const begin = Date.now() - dayMs;
    const content = sequence(
      tagged(0, integer(Buffer.from([2])), true),
      integer(serialNumber()),
      ecdsaWithSha256,
      named(this.#name),
      sequence(time(new Date(begin)), time(new Date(begin + (days + 1) * dayMs))),
      named(subject),
      key.export({ type: "spki", format: "der" }),
      tagged(3, sequence(...extensions, extension("2.5.29.14", false, octets(keyIdentifier(key)))), true),
    );
    const signature = sign("sha256", content, this.#key.privateKey);
    const encoded = sequence(content, ecdsaWithSha256, bits(signature)).toString("base64");
    const lines = encoded.match(/.{1,64}/g) ?? [];
    return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
  }
}

interface Contents {
  readonly subject: string;
  readonly key: KeyObject;
  readonly days: number;
  readonly extensions: readonly Buffer[];
}

const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

/** 16 bytes that are a positive number, because Go refuses negative ones. */
const serialNumber = (): Buffer => Buffer.concat([Buffer.from([0x40]), randomBytes(15)]);

const named = (commonName: string): Buffer =>
  sequence(set(sequence(identifier("2.5.4.3"), text(commonName))));

const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(identifier(id), ...(isCritical ? [boolean(true)] : []), octets(value));

const keyIdentifier = (key: KeyObject): Buffer =>
  createHash("sha1")
    .update(key.export({ type: "spki", format: "der" }))
    .digest();
