import { existsSync, readFileSync, realpathSync } from "node:fs";
import { rootCertificates } from "node:tls";

/** Where systems keep the authorities that their programs trust: Debian and Alpine, Fedora and RHEL, SUSE, BSD and macOS. */
const paths = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** The real path of the file with the authorities that this system trusts; undefined if there is none. */
export function systemBundle(): string | undefined {
  const path = paths.find((path) => existsSync(path));
  return path === undefined ? undefined : realpathSync(path);
}

/** The authorities, in PEM, that programs of a machine trust beside their own: this host's, and the egress proxy's for one with secrets. */
export const trustedIn = (
  { authority = "" }: { readonly authority?: string | undefined },
  own = "",
): string => own + authority;

/** The authorities of this system, or those of Node.js where it has none, and `own`, in PEM. */
export function bundleWith(own: string): string {
  const path = systemBundle();
  const known = path === undefined ? rootCertificates.join("\n") : readFileSync(path, "utf8");
  return `${known.trimEnd()}\n${own}`;
}
