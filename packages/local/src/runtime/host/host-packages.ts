import { lstatSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * A string that changes whenever a package is installed on or removed from the host: the modification times of the package
 * directories and of `ld.so.cache`. A machine booted earlier has the old `ld.so.cache` and cannot use new libraries.
 */
export function hostPackages(): string {
  return [...packageDirectories(), "/etc/ld.so.cache"]
    .map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)
    .join(" ");
}

/** The directories that sandboxes see as `/usr`. */
export function usrs(): readonly string[] {
  const own = userPackages();
  return own === undefined ? ["/usr"] : [own, "/usr"];
}

const directories = (): readonly string[] =>
  usrs().flatMap((usr) => ["local/lib", "lib", "lib64"].map((name) => join(usr, name)));

const kinds = ["site-packages", "dist-packages"];

function names(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => /^python3(\.\d+)?$/.test(name));
  } catch {
    return [];
  }
}

/** The directories in which sandboxes find Python packages, in the order of Python's search. */
export function packageDirectories(): string[] {
  return directories().flatMap((directory) =>
    names(directory).flatMap((name) => kinds.map((kind) => join(directory, name, kind))),
  );
}

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
