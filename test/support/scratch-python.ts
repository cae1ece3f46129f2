import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const cache = fileURLToPath(new URL("../../node_modules/.cache/scratch", import.meta.url));

/** The directory of packages for Python, installed from PyPI once; later runs use it again. */
export async function scratchPython(packages: readonly string[]): Promise<string> {
  const digest = createHash("sha256").update(JSON.stringify(packages)).digest("hex").slice(0, 12);
  const directory = join(cache, `python-${digest}`);
  if (existsSync(directory)) return directory;
  await mkdir(cache, { recursive: true });
  const aside = await mkdtemp(join(cache, "installing-"));
  try {
    await promisify(execFile)("python3", ["-m", "pip", "install", "-q", "--target", aside, ...packages]);
    // Sandboxes that mount it have other uids.
    await chmod(aside, 0o755);
    await rename(aside, directory);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    // Another test file may have installed them meanwhile.
    if (!existsSync(directory)) throw error;
  }
  return directory;
}
