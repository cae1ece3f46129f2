import { createHash, X509Certificate } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AuthorityFiles } from "@cloud-sandbox/server-kit/execution";
import type { Mount } from "../../host/mount.js";
import { bundleWith, systemBundle } from "../../host/system-bundle.js";
import { chromiumPolicyFile } from "./synthetic-etc.js";

/** Where files of authorities are: the host's own, and those together with the egress proxy's. */
type Directory = "authorities" | "authorities-with-proxy";

/** Where machines have the files below `opt`. */
export const authoritiesInside = (opt: string, directory: Directory): AuthorityFiles => ({
  own: join(opt, directory, "own.pem"),
  bundle: join(opt, directory, "bundle.pem"),
});

/**
 * Writes authorities below `parts`. Returns the mounts with which machines have them in place of the system's, for programs that read no
 * variable.
 */
export function placeAuthorities(parts: string, pem: string, directory: Directory): Mount[] {
  if (pem === "") return [];
  const { own, bundle } = authoritiesInside(parts, directory);
  mkdirSync(join(parts, directory), { recursive: true });
  writeFileSync(own, pem);
  writeFileSync(bundle, bundleWith(pem));
  // The umask may keep the sandboxes' uids from reading new files.
  chmodSync(join(parts, directory), 0o755);
  for (const path of [own, bundle]) chmodSync(path, 0o644);
  const target = systemBundle();
  return [
    ...(target?.startsWith("/etc/") ? [{ source: bundle, target }] : []),
    ...javaKeystore(join(parts, directory), pem),
    ...chromiumPolicy(join(parts, directory), pem),
  ];
}

/** Debian's Java programs read no variable, and have this file for their authorities. */
const debianKeystore = "/etc/ssl/certs/java/cacerts";

function javaKeystore(files: string, pem: string): Mount[] {
  const content = existsSync(debianKeystore) && keystoreWith(readFileSync(debianKeystore), pem);
  if (!content) return [];
  const source = join(files, "cacerts");
  writeFileSync(source, content);
  chmodSync(source, 0o644);
  return [{ source, target: debianKeystore }];
}

/** Chromium reads neither variables nor the system's file, but its administrator's policies. */
function chromiumPolicy(files: string, pem: string): Mount[] {
  if (!existsSync("/etc/chromium")) return [];
  const source = join(files, "chromium.json");
  const policy = { CACertificates: certificatesIn(pem).map((certificate) => certificate.toString("base64")) };
  writeFileSync(source, JSON.stringify(policy));
  chmodSync(source, 0o644);
  return [{ source, target: `/etc/${chromiumPolicyFile}` }];
}

/** The certificates in PEM as DER. */
const certificatesIn = (pem: string): Buffer[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []).map(
    (certificate) => new X509Certificate(certificate).raw,
  );

const magic = 0xfeedfeed;
const headerLength = 12;
const digestLength = 20;
/** The password of Java's own keystores, which only protects them from changes by accident. */
const password = Buffer.from("changeit", "utf16le").swap16();

/**
 * A copy of a keystore of Java that has the certificates of `pem` too. Undefined if it is not in Java's first format, JKS, in which
 * Debian's is: that format is a header, the entries, and a digest.
 */
function keystoreWith(keystore: Buffer, pem: string): Buffer | undefined {
  if (keystore.length < headerLength + digestLength || keystore.readUInt32BE(0) !== magic) return undefined;
  if (keystore.readUInt32BE(4) !== 2) return undefined;
  const certificates = certificatesIn(pem);
  const header = Buffer.from(keystore.subarray(0, headerLength));
  header.writeUInt32BE(header.readUInt32BE(8) + certificates.length, 8);
  const content = Buffer.concat([
    header,
    keystore.subarray(headerLength, -digestLength),
    ...certificates.map((certificate, index) => trusted(`cloud-sandbox:${index}`, certificate)),
  ]);
  const digest = createHash("sha1").update(password).update("Mighty Aphrodite").update(content).digest();
  return Buffer.concat([content, digest]);
}

/** An entry with a trusted certificate. */
function trusted(alias: string, certificate: Buffer): Buffer {
  const created = Buffer.alloc(8);
  created.writeBigUInt64BE(BigInt(Date.now()));
  return Buffer.concat([
    uint32(2),
    text(alias),
    created,
    text("X.509"),
    uint32(certificate.length),
    certificate,
  ]);
}

function text(value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(value.length);
  return Buffer.concat([length, Buffer.from(value, "latin1")]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
