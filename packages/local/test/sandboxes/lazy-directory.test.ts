import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LazyDirectory } from "../../src/store/lazy-directory.js";

test("a directory that could not be made is made at the next need, and then not again", async () => {
  const parent = await mkdtemp(join(tmpdir(), "lazy-"));
  const path = join(parent, "files");
  let needs = 0;
  const directory = new LazyDirectory(async () => {
    needs += 1;
    return path;
  });
  expect(directory.made).toBeUndefined();
  await writeFile(path, "in the way");
  await expect(directory.ready()).rejects.toThrow("EEXIST");
  await rm(path);
  expect(await directory.ready()).toBe(path);
  expect(await directory.ready()).toBe(path);
  expect([needs, (await stat(path)).isDirectory()]).toEqual([2, true]);
  await rm(parent, { recursive: true });
});
