import { execFile } from "node:child_process";
import { chmod, chown, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../support/documents/code-blocks.js";
import { otherNode } from "../support/scratch-project.js";

/** Runs built programs on a Node.js that can store compiled code. Resolves with what they have left in the directory of caches. */
async function leftIn(caches: string): Promise<string[]> {
  const node = await otherNode("24.21.0");
  for (const name of ["cli", "mcp"]) {
    const main = join(root, "packages", name, "dist/main.js");
    const env = { PATH: process.env.PATH, XDG_CACHE_HOME: caches };
    const { stdout } = await promisify(execFile)(node, [main, "--version"], { env });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  }
  return readdir(caches, { recursive: true });
}

test.for<[string, (caches: string) => Promise<void>, boolean]>([
  ["is the user's own", async () => undefined, true],
  ["belongs to another user", (caches) => chown(caches, 54_321, 54_321), false],
  ["others can write to", (caches) => chmod(caches, 0o777), false],
  ["has a file in its place", (caches) => writeFile(join(caches, "cloud-sandbox"), ""), false],
])("compiled code in a directory that %s", async ([whose, prepare, isStored], { skip }) => {
  skip(whose === "belongs to another user" && process.getuid?.() !== 0, "this test was not started by root");
  const caches = await mkdtemp(join(tmpdir(), "caches-"));
  try {
    await prepare(caches);
    const left = await leftIn(caches);
    expect(left.some((name) => name.startsWith("cloud-sandbox/compiled/"))).toBe(isStored);
  } finally {
    await rm(caches, { recursive: true });
  }
});
