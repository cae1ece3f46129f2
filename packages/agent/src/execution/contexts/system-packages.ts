import { readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * The names of the Python packages installed system-wide. A package that the host installs while a sandbox runs
 * becomes visible in the sandbox, but the modification time of its directory, which belongs to the sandbox, does not
 * change: a Python that listed the directory earlier uses its cached listing and does not find the package.
 */
export async function systemPackages(): Promise<string> {
  const pythons = await Promise.all(
    ["/usr/local/lib", "/usr/lib", "/usr/lib64"].map(async (directory) =>
      (await entries(directory))
        .filter((name) => /^python3(\.\d+)?$/.test(name))
        .map((name) => join(directory, name)),
    ),
  );
  const directories = pythons
    .flat()
    .flatMap((path) => [join(path, "site-packages"), join(path, "dist-packages")]);
  return (await Promise.all(directories.map(entries))).map((names) => names.sort().join("\0")).join("\n");
}

const entries = (directory: string): Promise<string[]> => readdir(directory).catch(() => []);
