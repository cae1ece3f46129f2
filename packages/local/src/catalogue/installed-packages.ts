import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageDirectories, usrs } from "../runtime/host/host-packages.js";

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
  ...["requests", "httpx", "beautifulsoup4", "pillow", "openpyxl", "sqlalchemy", "networkx"],
  ...["torch", "tensorflow", "ipykernel", "pip", "uv"],
];

/** Tools worth listing, as programs. Go is listed among the languages. */
const tools = ["git", "curl", "wget", "vim", "nano", "gcc", "g++", "make"];

/**
 * Packages that people expect of Python in a code interpreter. The key is the name in the package's record, the value is
 * Debian's package that contains it.
 */
const expectedOfPython: Readonly<Record<string, string | undefined>> = {
  pandas: "python3-pandas",
  numpy: "python3-numpy",
  matplotlib: "python3-matplotlib",
  scipy: "python3-scipy",
  scikit_learn: "python3-sklearn",
  requests: "python3-requests",
  httpx: "python3-httpx",
  beautifulsoup4: "python3-bs4",
  ipykernel: "python3-ipykernel",
  pip: "python3-pip",
  // Debian has no package of it: it comes from PyPI.
  uv: undefined,
};

/** The {@link expectedPackages} that can be installed from PyPI. */
export const pythonPackages: readonly string[] = Object.keys(expectedOfPython);

/**
 * Packages and programs that people expect of a code interpreter. The key is the name in the package's record or of its
 * program, the value is Debian's package that contains it.
 */
export const expectedPackages: Readonly<Record<string, string | undefined>> = {
  ...expectedOfPython,
  go: "golang-go",
  ...Object.fromEntries(tools.map((tool) => [tool, tool])),
};

/** Notable Python packages with their versions, for example `numpy 1.24.2`, and tools. The versions are read from the packages' records, without loading a package. */
export async function installedPackages(): Promise<readonly string[]> {
  const directories = packageDirectories();
  const entries = await Promise.all(directories.map((path) => readdir(path).catch(() => [])));
  const found = new Map<string, string>();
  for (const entry of entries.flat()) {
    const [, name = "", version = ""] = /^(.+?)-(\d[^-]*).*\.(?:dist|egg)-info$/.exec(entry) ?? [];
    const known = recordName(name);
    if (notable.includes(known) && !found.has(known)) found.set(known, `${name} ${version}`);
  }
  const git = await run("git", ["--version"], { timeout: 10_000 }).catch(() => ({ stdout: "" }));
  const gitVersion = /\d+(\.\d+)+/.exec(git.stdout)?.[0];
  return [
    ...notable.flatMap((name) => found.get(name) ?? (isInstalledProgram(name) ? name : [])),
    ...tools
      .filter(isInstalledProgram)
      .map((tool) => (tool === "git" && gitVersion !== undefined ? `git ${gitVersion}` : tool)),
  ];
}

/** The names of those of the {@link expectedPackages} that sandboxes of this machine lack. `installed`: the {@link installedPackages}. */
export function missingPackages(installed: readonly string[]): readonly string[] {
  const names = installed.map((text) => recordName(text.split(" ")[0] ?? ""));
  return Object.keys(expectedPackages).filter((name) => !names.includes(name) && !isInstalledProgram(name));
}

/**
 * Programs that count as installed when they are on the search path: they are not Python packages, or are as useful
 * without a record.
 */
const programs = ["pip", "uv", "go", ...tools];

/** Whether this is one of the {@link programs}, and sandboxes find it. */
function isInstalledProgram(name: string): boolean {
  const paths = usrs().flatMap((usr) => ["local/bin", "bin"].map((directory) => join(usr, directory, name)));
  return programs.includes(name) && paths.some((path) => existsSync(path));
}

const recordName = (name: string): string => name.toLowerCase().replaceAll("-", "_");
