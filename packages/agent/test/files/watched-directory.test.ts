import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ServedTree } from "../../src/files/served-tree.js";
import { WatchBudget } from "../../src/streaming/watch-budget.js";
import { WatchedDirectory } from "../../src/streaming/watched-directory.js";

test("a directory with too many entries to watch takes nothing from those that are watched later", async () => {
  const root = await mkdtemp(join(tmpdir(), "watched-directory-"));
  onTestFinished(() => rm(root, { recursive: true }));
  const tree = await ServedTree.create([root]);
  const budget = new WatchBudget(10, 8);
  const watch = async (name: string): Promise<WatchedDirectory> => {
    using pin = await tree.pinDirectory(join(root, name));
    return await WatchedDirectory.open(pin, budget, () => undefined);
  };
  for (const [name, count] of [["large", 40] as const, ["small", 8] as const]) {
    await mkdir(join(root, name));
    for (let number = 0; number < count; number += 1) await writeFile(join(root, name, `${number}`), "");
  }
  await expect(watch("large")).rejects.toMatchObject({ status: 429 });
  const small = await watch("small");
  expect(small.entries.size).toBe(8);
  small.close();
});
