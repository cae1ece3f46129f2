import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AuthorityFiles } from "@cloud-sandbox/server-kit/execution";
import type { Mount } from "../../host/mount.js";
import { bundleWith, systemBundle } from "../../host/system-bundle.js";
import { keystoreWith } from "./java-keystore.js";

const directory = "authorities";

/** Where machines have the files below `opt`. */
export const authoritiesInside = (opt: string): AuthorityFiles => ({
  own: join(opt, directory, "own.pem"),
  bundle: join(opt, directory, "bundle.pem"),
});

/**
 * Writes the host's own authorities below `parts`. Returns the mount with which machines have them in place of the system's, for
 * programs that read no variable.
 */
export function placeAuthorities(parts: string, pem: string): Mount[] {
  if (pem === "") return [];
  const { own, bundle } = authoritiesInside(parts);
  mkdirSync(join(parts, directory));
  writeFileSync(own, pem);
  writeFileSync(bundle, bundleWith(pem));
  // The umask may keep the sandboxes' uids from reading new files.
  chmodSync(join(parts, directory), 0o755);
  for (const path of [own, bundle]) chmodSync(path, 0o644);
  const target = systemBundle();
  return [...(target?.startsWith("/etc/") ? [{ source: bundle, target }] : []), ...javaKeystore(parts, pem)];
}

/** Debian's Java programs read no variable, and have this file for their authorities. */
const debianKeystore = "/etc/ssl/certs/java/cacerts";

function javaKeystore(parts: string, pem: string): Mount[] {
  const content = existsSync(debianKeystore) && keystoreWith(readFileSync(debianKeystore), pem);
  if (!content) return [];
  const source = join(parts, directory, "cacerts");
  writeFileSync(source, content);
  chmodSync(source, 0o644);
  return [{ source, target: debianKeystore }];
}
