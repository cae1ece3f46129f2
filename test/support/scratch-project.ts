import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const cache = fileURLToPath(new URL("../../node_modules/.cache/scratch", import.meta.url));

/**
 * Installs packages from the registry in a project outside the workspace, once; later runs use it again. Files of tests
 * that run at the same time may want the same project: it is installed in another directory and then renamed, so that
 * it is complete as soon as it exists.
 */
export async function scratchProject(name: string, packages: readonly string[]): Promise<string> {
  const digest = createHash("sha256").update(JSON.stringify(packages)).digest("hex").slice(0, 12);
  const directory = join(cache, `${name}-${digest}`);
  if (await isThere(directory)) return directory;
  await mkdir(cache, { recursive: true });
  const aside = await mkdtemp(join(cache, "installing-"));
  try {
    await writeFile(join(aside, "package.json"), '{ "private": true }\n');
    await npm(aside, ["install", "--ignore-scripts", ...packages]);
    await rename(aside, directory);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    // Another test file may have installed the project meanwhile.
    if (!(await isThere(directory))) throw error;
  }
  return directory;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** The path of a Node.js of another version, installed from the registry. */
export async function otherNode(version: string): Promise<string> {
  const packageName = `node-linux-${process.arch}`;
  const directory = await scratchProject(`node-${version}`, [`${packageName}@${version}`]);
  const node = join(directory, "node_modules", packageName, "bin", "node");
  await access(node);
  return node;
}

export async function npm(directory: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: directory,
  });
  return stdout;
}
