import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { userPackages } from "./user-packages.js";

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
