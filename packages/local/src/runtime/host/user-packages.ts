import { lstatSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * Where "cloud-sandbox-local setup" of an ordinary user installs packages, as if this directory were the root of the file system.
 * Undefined for root, whose packages are the machine's own, and for a user without a home directory.
 */
export function userPackagesRoot(): string | undefined {
  if (process.getuid?.() === 0) return undefined;
  const { XDG_DATA_HOME = "" } = process.env;
  try {
    const data = isAbsolute(XDG_DATA_HOME) ? XDG_DATA_HOME : join(homedir(), ".local", "share");
    return join(data, "cloud-sandbox-local", "packages");
  } catch {
    return undefined;
  }
}

/** The `/usr` of these packages, which sandboxes see below their own changes. Undefined if there is none that this user alone can write. */
export function userPackages(): string | undefined {
  const root = userPackagesRoot();
  if (root === undefined) return undefined;
  const usr = join(root, "usr");
  return [root, usr].every(isOwnDirectory) ? usr : undefined;
}

function isOwnDirectory(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status?.isDirectory() === true && status.uid === process.getuid?.() && (status.mode & 0o022) === 0;
}
