import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { PrivateDirectory } from "../../src/machine/private-directory.js";
import { FileArchive } from "../../src/snapshot/file-archive.js";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "file-archive-"));
  for (const path of ["tree/mounted/deep", "tree/a/mounted", "tree/a/own", "other"])
    await mkdir(join(directory, path), { recursive: true });
  for (const path of ["tree/mounted/deep/x", "tree/a/mounted/x", "tree/a/own/x", "other/x"])
    await writeFile(join(directory, path), "x");
});
afterAll(() => rm(directory, { recursive: true }));

test("saved files are those of the directories, with all digits of their times, without what is mounted in them, or as one of them", async () => {
  const own = new PrivateDirectory(directory, "own");
  const at = (path: string): string => join(directory, path);
  const archive = new FileArchive([at("tree"), at("other")], own, [
    ...[at("tree/mounted"), at("tree/a/mounted"), at("other")],
  ]);
  const packed = await buffer(await archive.save({ isLive: false }));
  const names = execFileSync("tar", ["--list"], { input: packed, encoding: "utf8" }).trim().split("\n");
  expect(names.map((name) => name.slice(directory.length)).sort()).toEqual([
    ...["tree/a/", "tree/a/own/", "tree/a/own/x"],
  ]);
  execFileSync("tar", ["--extract", `--directory=${at("other")}`], { input: packed });
  const time = (path: string): bigint => statSync(path, { bigint: true }).mtimeNs;
  expect(time(join(at("other"), at("tree/a/own/x")))).toBe(time(at("tree/a/own/x")));
});

test("a template without the programs that files are kept with is told of what it lacks", async () => {
  const archive = new FileArchive([directory], new PrivateDirectory(directory, "own"));
  vi.stubEnv("PATH", directory);
  await expect(archive.save({ isLive: false })).rejects.toThrow("its template has no find; sandboxes are");
  vi.unstubAllEnvs();
});
