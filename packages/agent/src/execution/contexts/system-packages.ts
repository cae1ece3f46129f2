import { readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * The names of the Python packages of the whole system. Those that the host gets while a sandbox runs appear in it, but not in
 * the time of their directory, which is the sandbox's own: an interpreter that has looked there before does not find them.
 */
export async function systemPackages(): Promise<string> {
  const pythons = await Promise.all(
    ["/usr/local/lib", "/usr/lib", "/usr/lib64"].map(async (place) =>
      (await entries(place))
        .filter((name) => /^python3(\.\d+)?$/.test(name))
        .map((name) => join(place, name)),
    ),
  );
  const directories = pythons
    .flat()
    .flatMap((path) => [join(path, "site-packages"), join(path, "dist-packages")]);
  return (await Promise.all(directories.map(entries))).map((names) => names.sort().join("\0")).join("\n");
}

const entries = (directory: string): Promise<string[]> => readdir(directory).catch(() => []);
