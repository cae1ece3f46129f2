import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Packages worth listing in a template's description, by the names in their `.dist-info` records. */
const notable = [
  ...[
    "ipython",
    "numpy",
    "pandas",
    "matplotlib",
    "scipy",
    "scikit_learn",
    "sympy",
    "seaborn",
    "plotly",
    "polars",
  ],
  ...["requests", "beautifulsoup4", "pillow", "openpyxl", "sqlalchemy", "networkx", "torch", "tensorflow"],
];

/** Versions of notable Python packages and of git, for example `numpy 1.24.2`. The versions are read from the packages' records, without loading a package. */
export async function installedPackages(): Promise<readonly string[]> {
  const directories = packageDirectories();
  const entries = await Promise.all(directories.map((path) => readdir(path).catch(() => [])));
  const found = new Map<string, string>();
  for (const entry of entries.flat()) {
    const [, name = "", version = ""] = /^(.+?)-(\d[^-]*).*\.(?:dist|egg)-info$/.exec(entry) ?? [];
    const known = name.toLowerCase().replaceAll("-", "_");
    if (notable.includes(known) && !found.has(known)) found.set(known, `${name} ${version}`);
  }
  const git = await run("git", ["--version"], { timeout: 10_000 }).catch(() => ({ stdout: "" }));
  const gitVersion = /\d+(\.\d+)+/.exec(git.stdout)?.[0];
  const packages = notable.flatMap((name) => found.get(name) ?? []);
  return [...packages, ...(gitVersion === undefined ? [] : [`git ${gitVersion}`])];
}

/**
 * A string that changes whenever a package is installed on or removed from the host: the modification times of the package
 * directories and of `ld.so.cache`. A machine booted earlier has the old `ld.so.cache` and cannot use new libraries.
 */
export function hostPackages(): string {
  return [...packageDirectories(), "/etc/ld.so.cache"]
    .map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)
    .join(" ");
}

const places = ["/usr/local/lib", "/usr/lib", "/usr/lib64"];
const kinds = ["site-packages", "dist-packages"];

function names(place: string): string[] {
  try {
    return readdirSync(place).filter((name) => /^python3(\.\d+)?$/.test(name));
  } catch {
    return [];
  }
}

/** The directories in which sandboxes find Python packages, in the order of Python's search. */
function packageDirectories(): string[] {
  return places.flatMap((place) =>
    names(place).flatMap((name) => kinds.map((kind) => join(place, name, kind))),
  );
}
