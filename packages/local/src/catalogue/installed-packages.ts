import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What people look for in a template, by the names that the packages' own records have. */
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

/** Versions of notable Python packages and of git, such as `numpy 1.24.2`, read from their records and not by loading them. */
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
 * Changes whenever the host gets or loses a package: when its few directories of packages, and the list of its libraries, were
 * changed last. A machine that was booted before sees only a part of what is new: its libraries' list is the old one.
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

/** Where sandboxes find Python packages: what stands first is what Python takes. */
function packageDirectories(): string[] {
  return places.flatMap((place) =>
    names(place).flatMap((name) => kinds.map((kind) => join(place, name, kind))),
  );
}
