import { X509Certificate } from "node:crypto";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { authorityVariables } from "@cloud-sandbox/server-kit/execution";
import { InvalidAuthorityError } from "../errors/local-errors.js";
import { systemBundle } from "../runtime/host/system-bundle.js";

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

const npmVariables = ["npm_config_cafile", "NPM_CONFIG_CAFILE"];

/** The agent gets them in an environment variable, of which the kernel takes 128 KiB. */
const mostBytes = 64 * 1024;

/**
 * The authorities of one's own that this host's programs trust: those of the files in `trusted`, those that variables and settings
 * of npm, pip, git and curl name, and those that its administrator added to the system's.
 *
 * @throws InvalidAuthorityError when a file of `trusted` has no certificate.
 */
export function ownAuthorities(
  trusted: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): OwnAuthorities {
  const known = new Set<string>();
  const own: string[] = [];
  const sources: string[] = [];
  const problems: string[] = [];
  let everyones: ReadonlySet<string> | undefined;
  const add = (source: string, path: string): Error | undefined => {
    try {
      // Compared as texts: to parse all of everybody's takes longer than to run a program.
      everyones ??= new Set(rootCertificates.map(encodedPart));
      const found = certificatesIn(readFileSync(path), everyones);
      if (found === undefined) throw new Error("it has no certificate");
      const fresh = found.filter(({ fingerprint256 }) => !known.has(fingerprint256));
      for (const certificate of fresh) {
        known.add(certificate.fingerprint256);
        own.push(certificate.toString());
      }
      if (fresh.length > 0) sources.push(`${source} (${fresh.length})`);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  };
  for (const path of trusted) {
    const error = add(`--trust-ca ${path}`, path);
    if (error) throw new InvalidAuthorityError(path, error);
  }
  for (const { source, path } of named(env)) {
    const error = add(source, path);
    if (error) problems.push(`${source} names ${path}, which has no authorities: ${error.message}`);
  }
  for (const path of anchors.flatMap(filesBelow)) add(path, path);
  const pem = own.join("");
  if (pem.length > mostBytes)
    throw new InvalidAuthorityError(
      sources.join(", "),
      new Error(`they have ${pem.length} bytes of certificates, of which sandboxes take ${mostBytes}`),
    );
  return { pem, sources, problems };
}

/** The files of authorities that variables and settings of this host's programs name. The system's own is in sandboxes anyway. */
function named(env: NodeJS.ProcessEnv): { readonly source: string; readonly path: string }[] {
  const system = systemBundle();
  const ofVariables = [...authorityVariables, ...npmVariables].flatMap((name) => {
    const path = env[name];
    return path ? [{ source: name, path }] : [];
  });
  const home = env.HOME ?? homeDirectory();
  const ofSettings = [
    setting(env.npm_config_userconfig || join(home, ".npmrc"), /^\s*cafile\s*=\s*"?([^"\n]+?)"?\s*$/m),
    setting(env.PIP_CONFIG_FILE || join(home, ".config/pip/pip.conf"), /^\s*cert\s*=\s*([^\n]+?)\s*$/m),
    setting("/etc/pip.conf", /^\s*cert\s*=\s*([^\n]+?)\s*$/m),
    ...[join(home, ".gitconfig"), "/etc/gitconfig"].map((file) =>
      setting(file, /^\s*sslCAInfo\s*=\s*"?([^"\n]+?)"?\s*$/im),
    ),
    setting(join(home, ".curlrc"), /^\s*-{0,2}cacert\s*[\s=:]\s*"?([^"\n]+?)"?\s*$/m),
  ].flat();
  // Node.js does not read the system's, so a variable of its own may name that file to add what is only there.
  return [...ofVariables, ...ofSettings].filter(
    ({ source, path }) =>
      source === "NODE_EXTRA_CA_CERTS" || system === undefined || realPath(path) !== system,
  );
}

function setting(file: string, pattern: RegExp): { readonly source: string; readonly path: string }[] {
  try {
    const [, path] = pattern.exec(readFileSync(file, "utf8")) ?? [];
    return path === undefined
      ? []
      : [{ source: file, path: path.replace(/^\$\{HOME\}|^~(?=\/)/, homeDirectory()) }];
  } catch {
    return [];
  }
}

/** Users of services often have no home directory, which is an error for Node.js. */
function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
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

/**
 * The certificates that are not everybody's of a file in PEM, which may have other text and keys too, or the one of a file in DER.
 * Undefined if it has no certificate at all.
 */
function certificatesIn(bytes: Buffer, everyones: ReadonlySet<string>): X509Certificate[] | undefined {
  const blocks: readonly (string | Buffer)[] = bytes
    .toString("latin1")
    .match(/-----BEGIN (?:TRUSTED )?CERTIFICATE-----[\s\S]+?-----END (?:TRUSTED )?CERTIFICATE-----/g) ?? [
    bytes,
  ];
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
