import { mkdir, mkdtemp, readdir, readFile, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { root } from "../support/documents/code-blocks.js";

test("a version that starts for the first time removes compiled code that was not written for a month", async () => {
  const { version } = JSON.parse(await readFile(join(root, "packages/cli/package.json"), "utf8"));
  const caches = await mkdtemp(join(tmpdir(), "caches-"));
  try {
    const compiled = join(caches, "cloud-sandbox", "compiled");
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
    for (const [name, days] of [
      ["0.0.1", 31],
      ["0.0.2", 29],
    ] as const) {
      await mkdir(join(compiled, name, "of-node"), { recursive: true });
      await utimes(join(compiled, name), daysAgo(days), daysAgo(days));
    }
    const { code } = await runBuilt("cli", ["completion", "bash"], { env: { XDG_CACHE_HOME: caches } });
    expect(code).toBe(0);
    expect((await readdir(compiled)).sort()).toEqual(["0.0.2", version]);
    expect(await readdir(join(compiled, version))).not.toEqual([]);
  } finally {
    await rm(caches, { recursive: true });
  }
});
