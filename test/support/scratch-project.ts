import { execFile } from "node:child_process";
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const cache = fileURLToPath(new URL("../../node_modules/.cache/scratch", import.meta.url));

/** A project outside the workspace with packages from the registry, installed once and kept between runs. */
export async function scratchProject(name: string, packages: readonly string[]): Promise<string> {
  const directory = join(cache, name);
  const stamp = join(directory, "installed.json");
  const wanted = JSON.stringify(packages);
  if ((await readFile(stamp, "utf8").catch(() => "")) === wanted) return directory;
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "package.json"), '{ "private": true }\n');
  await npm(directory, ["install", "--ignore-scripts", ...packages]);
  await writeFile(stamp, wanted);
  return directory;
}

/** Path of a Node.js of another version, from the registry. */
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
