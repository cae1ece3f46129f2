import { X509Certificate } from "node:crypto";
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { InvalidAuthorityError } from "../errors/local-errors.js";
import { systemBundle } from "../runtime/host/system-bundle.js";
import { namedAuthorities } from "./authority-settings.js";

/** Authorities that this host's programs trust beside those that everybody trusts. */
export interface OwnAuthorities {
  /** Their certificates in PEM; empty if there are none. */
  readonly pem: string;
  /** For people: what names them, each with the number of certificates. */
  readonly sources: readonly string[];
  /** Sentences about files that cannot be read, or that contain no certificate. */
  readonly problems: readonly string[];
}

/** Directories with the authorities that an administrator added to those of the system. */
const anchors = [
  "/usr/local/share/ca-certificates",
  "/etc/pki/ca-trust/source/anchors",
  "/usr/share/pki/ca-trust-source/anchors",
  "/etc/pki/trust/anchors",
  "/etc/ca-certificates/trust-source/anchors",
];

/** In all. The agent gets them in an environment variable, of which the kernel takes 128 KiB. */
const mostBytes = 64 * 1024;
/** What is larger in a directory of certificates is something else. */
const mostFileBytes = 1024 * 1024;

/**
 * The authorities of one's own that this host's programs trust: those of the files in `trusted`, those in files and directories that
 * variables and settings of npm, pip, git and curl name, and those that its administrator added to the system's.
 *
 * @throws InvalidAuthorityError when a file of `trusted` has no certificate, or more than sandboxes take.
 */
export function ownAuthorities(
  trusted: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): OwnAuthorities {
  const known = new Set<string>();
  let pem = "";
  const sources: string[] = [];
  const problems: string[] = [];
  let everyones: ReadonlySet<string> | undefined;
  const add = (source: string, path: string): Error | undefined => {
    try {
      // Compared as texts: to parse all of everybody's takes longer than to run a program.
      everyones ??= new Set(rootCertificates.map(encodedPart));
      const found = certificatesOf(path, everyones);
      if (found === undefined) throw new Error("it has no certificate");
      // A directory has each authority under several names.
      const fresh = new Map(
        found.flatMap((each) => (known.has(each.fingerprint256) ? [] : [[each.fingerprint256, each]])),
      );
      const more = [...fresh.values()].join("");
      if (pem.length + more.length > mostBytes)
        throw new RangeError(
          `sandboxes take ${mostBytes} bytes of certificates, and with its ${fresh.size} there would be ${pem.length + more.length}`,
        );
      pem += more;
      for (const fingerprint of fresh.keys()) known.add(fingerprint);
      if (fresh.size > 0) sources.push(`${source} (${fresh.size})`);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  };
  for (const path of trusted) {
    const error = add(`--trust-ca ${path}`, path);
    if (error) throw new InvalidAuthorityError(path, error);
  }
  for (const { source, path } of namedAuthorities(env)) {
    const error = add(source, path);
    if (error) problems.push(`${source} names ${path}, which adds no authorities: ${error.message}`);
  }
  for (const path of anchors.flatMap(filesBelow)) {
    const error = add(path, path);
    // Other files may be there too.
    if (error instanceof RangeError) problems.push(`${path} adds no authorities: ${error.message}`);
  }
  return { pem, sources, problems };
}

function filesBelow(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() || entry.isSymbolicLink())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch {
    return [];
  }
}

/** The certificates that are not everybody's of a file, or of the files in a directory. Undefined if there is no certificate at all. */
function certificatesOf(path: string, everyones: ReadonlySet<string>): X509Certificate[] | undefined {
  if (!statSync(path).isDirectory()) return certificatesIn(readFileSync(path), everyones);
  const found = readdirSync(path)
    .map((name) => certificatesIn(contentOf(join(path, name)), everyones))
    .filter((certificates) => certificates !== undefined);
  return found.length === 0 ? undefined : found.flat();
}

/** Empty for what is no file, cannot be read, is too large for certificates, or is the system's. */
function contentOf(path: string): Buffer {
  try {
    const { size } = statSync(path);
    const isOther = size > mostFileBytes || realpathSync(path) === systemBundle();
    return isOther ? Buffer.alloc(0) : readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

/**
 * The certificates that are not everybody's of a file in PEM, which may have other text and keys too, or the one of a file in DER.
 * Undefined if it has no certificate at all.
 */
function certificatesIn(bytes: Buffer, everyones: ReadonlySet<string>): X509Certificate[] | undefined {
  // Settings of npm have a certificate in one line.
  const text = bytes.toString("latin1").replaceAll("\\n", "\n");
  const blocks: readonly (string | Buffer)[] = text.match(
    /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[\s\S]+?-----END (?:TRUSTED )?CERTIFICATE-----/g,
  ) ?? [bytes];
  const others = blocks.filter((block) => typeof block !== "string" || !everyones.has(encodedPart(block)));
  const read = others.flatMap(parsed);
  if (read.length === 0 && others.length === blocks.length) return undefined;
  return read.filter(({ raw }) => !everyones.has(raw.toString("base64")));
}

/** The base64 of a certificate in PEM, without its lines. */
function encodedPart(pem: string): string {
  return pem.replace(/-----[A-Z ]+-----|\s/g, "");
}

function parsed(certificate: string | Buffer): X509Certificate[] {
  try {
    return [new X509Certificate(certificate)];
  } catch {
    return [];
  }
}
