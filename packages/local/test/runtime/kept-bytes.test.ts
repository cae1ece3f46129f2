import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keptOrMade } from "../../src/runtime/host/kept-bytes.js";

let caches: string;
let directory: string;
let file: string;
const isRoot = process.getuid?.() === 0;
const notRoot = "these tests were not started by root";
const make = vi.fn(async (): Promise<Buffer | undefined> => Buffer.from("made"));

beforeEach(async () => {
  caches = await mkdtemp(join(tmpdir(), "caches-"));
  vi.stubEnv("XDG_CACHE_HOME", caches);
  directory = join(caches, "cloud-sandbox-local");
  file = join(directory, "name.kept");
});

afterEach(async () => {
  vi.unstubAllEnvs();
  make.mockClear();
  await rm(caches, { recursive: true, force: true });
});

const get = async (): Promise<string | undefined> => (await keptOrMade("name", make))?.toString();

test("kept bytes are made once", async () => {
  expect(await get()).toBe("made");
  expect(await get()).toBe("made");
  expect(make).toHaveBeenCalledTimes(1);
  expect(await readdir(directory)).toEqual(["name.kept"]);
});

test("results that are made at the same time are all kept", async () => {
  const names = ["a", "b", "c"];
  await Promise.all(names.map((name) => keptOrMade(name, make)));
  expect(await readdir(directory)).toEqual(names.map((name) => `${name}.kept`));
});

test("bytes that could not be made are not kept", async () => {
  make.mockResolvedValueOnce(undefined);
  expect(await get()).toBeUndefined();
  expect(await get()).toBe("made");
});

test.each<[string, () => Promise<void>]>([
  ["a file with other bytes", async () => writeFile(file, "other bytes, longer than a digest is")],
  [
    "a file with one changed byte",
    async () => {
      const bytes = await readFile(file);
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
      await writeFile(file, bytes);
    },
  ],
  ["a file that was cut", async () => writeFile(file, (await readFile(file)).subarray(0, -1))],
  ["an empty file", async () => writeFile(file, "")],
  ["a file that others can write", async () => chmod(file, 0o602)],
  [
    "a symbolic link to a file",
    async () => {
      await rename(file, join(caches, "elsewhere"));
      await symlink(join(caches, "elsewhere"), file);
    },
  ],
])("in place of kept bytes, %s is not used but replaced", async (_, spoil) => {
  await get();
  await spoil();
  expect(await get()).toBe("made");
  expect(make).toHaveBeenCalledTimes(2);
  await get();
  expect(make).toHaveBeenCalledTimes(2);
});

test.for<[string, () => Promise<void>]>([
  ["that others can write", () => chmod(directory, 0o777)],
  ["of another user", () => chown(directory, 54_321, 54_321)],
  [
    "that a symbolic link leads to",
    async () => {
      await rename(directory, join(caches, "elsewhere"));
      await symlink("elsewhere", directory);
    },
  ],
])("a directory %s is not used for kept bytes", async ([whose, spoil], { skip }) => {
  skip(whose === "of another user" && !isRoot, notRoot);
  await get();
  await spoil();
  await get();
  await get();
  expect(make).toHaveBeenCalledTimes(3);
});

test("where bytes cannot be kept, they are made each time", async () => {
  await writeFile(directory, "a file where the directory would be");
  expect(await get()).toBe("made");
  expect(await get()).toBe("made");
  expect(make).toHaveBeenCalledTimes(2);
});

test("a variable for the cache directory that is no absolute path is ignored, as its specification says", async () => {
  const home = join(caches, "home");
  await mkdir(home);
  vi.stubEnv("HOME", home);
  vi.stubEnv("XDG_CACHE_HOME", "relative");
  await get();
  expect(await readdir(join(home, ".cache", "cloud-sandbox-local"))).toEqual(["name.kept"]);
});

test("no cache directory is created in the home of another user", async ({ skip }) => {
  skip(!isRoot, notRoot);
  await chown(caches, 54_321, 54_321);
  vi.stubEnv("HOME", caches);
  vi.stubEnv("XDG_CACHE_HOME", "");
  expect(await get()).toBe("made");
  expect(await readdir(caches)).toEqual([]);
});

test("only the newest few files of each kind of kept bytes remain", async () => {
  const count = 70;
  await keptOrMade("other-0", make);
  for (let index = 0; index < count; index += 1) await keptOrMade(`number-${index}`, make);
  const names = await readdir(directory);
  expect(names.filter((name) => name.startsWith("number-"))).toHaveLength(64);
  expect(names).toContain("other-0.kept");
  expect(names).toContain(`number-${count - 1}.kept`);
});
