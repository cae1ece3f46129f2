import { fstatSync, readdirSync, realpathSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fileProblem } from "../../src/files/file-problem.js";
import { isMissing, type Pin, ServedTree } from "../../src/files/served-tree.js";

let home: string;
let workspace: string;
let other: string;
let tree: ServedTree;

beforeEach(async () => {
  home = realpathSync(await mkdtemp(join(tmpdir(), "served-tree-")));
  [workspace, other] = [join(home, "workspace"), join(home, "other")];
  for (const directory of [workspace, other, join(home, "outside"), `${workspace}x`]) await mkdir(directory);
  await writeFile(join(home, "outside", "secret"), "secret");
  await writeFile(join(workspace, "file"), "text");
  await mkdir(join(workspace, "directory"));
  tree = await ServedTree.create([workspace, other, join(home, "absent")]);
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** The path that was pinned, relative to `home`, or status and code of the refusal. */
async function outcome(pinned: Promise<Pin>): Promise<unknown> {
  try {
    using pin = await pinned;
    return pin.realPath.replace(home, "");
  } catch (error) {
    return isProblem(error) ? `${error.status} ${error.code}` : error;
  }
}

const isProblem = (error: unknown): error is { status: number; code: string } =>
  error instanceof Error && "status" in error && "code" in error;

/** The number of descriptors that this process has open on files below `home`. */
const held = (): number =>
  readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return realpathSync(`/proc/self/fd/${descriptor}`).startsWith(home);
    } catch {
      return false;
    }
  }).length;

describe("a path", () => {
  test.each([
    ["file", "/workspace/file"],
    ["./a/../b", "/workspace/b"],
    [".", "/workspace"],
    ["", "/workspace"],
    ["../other/a", "/other/a"],
    ["../absent", "/absent"],
  ])("%j is %s", (path, expected) => {
    expect(tree.resolve(path)).toBe(home + expected);
  });

  test.each(["..", "../outside/secret", "../workspacex", "/etc/passwd", "/", "a/../../outside"])(
    "%j is refused as outside, and the refusal names the served directories",
    (path) => {
      expect(() => tree.resolve(path)).toThrow(
        expect.objectContaining({ status: 403, code: "PATH_NOT_ALLOWED", details: { path } }),
      );
      expect(() => tree.resolve(path)).toThrow(`${workspace} and ${other} and`);
    },
  );

  test("with a null byte is refused", () => {
    expect(() => tree.resolve("a\0b")).toThrow(
      expect.objectContaining({ status: 400, code: "INVALID_PATH" }),
    );
  });

  test("starts in the first directory, or at the root where there is none", async () => {
    expect(tree.workspace).toBe(workspace);
    expect((await ServedTree.create([])).workspace).toBe("/");
  });

  test.each([
    ["workspace", true],
    ["other", true],
    ["workspace/file", false],
    ["outside", false],
  ])("%s is itself served: %s", (path, isRoot) => expect(tree.isRoot(join(home, path))).toBe(isRoot));
});

describe("a pinned path", () => {
  beforeEach(async () => {
    await symlink(join(home, "outside", "secret"), join(workspace, "out"));
    await symlink(join(home, "outside"), join(workspace, "out-directory"));
    await symlink(`${workspace}x`, join(workspace, "beside"));
    await symlink(other, join(workspace, "in"));
    await symlink("loop", join(workspace, "loop"));
  });

  test.each([
    ["file", "/workspace/file"],
    ["directory", "/workspace/directory"],
    [".", "/workspace"],
    ["in", "/other"],
    ["out", "403 PATH_NOT_ALLOWED"],
    ["out-directory", "403 PATH_NOT_ALLOWED"],
    ["out-directory/secret", "403 PATH_NOT_ALLOWED"],
    ["beside", "403 PATH_NOT_ALLOWED"],
    ["absent", "404 FILE_NOT_FOUND"],
    ["file/below", "400 INVALID_PATH"],
    ["loop", "400 INVALID_PATH"],
  ])("by %s is %s, and nothing stays open", async (path, expected) => {
    expect(await outcome(tree.pin(join(workspace, path)))).toBe(expected);
    expect(held()).toBe(0);
  });

  test.each([
    ["file", "/workspace/file"],
    ["directory", "400 INVALID_PATH"],
    ["out", "403 PATH_NOT_ALLOWED"],
  ])("as a file by %s is %s, and nothing stays open", async (path, expected) => {
    expect(await outcome(tree.pinFile(join(workspace, path)))).toBe(expected);
    expect(held()).toBe(0);
  });

  test("as a file says what it is instead", async () => {
    await expect(tree.pinFile(join(workspace, "directory"))).rejects.toThrow("is a directory");
    const devices = await ServedTree.create(["/dev"]);
    await expect(devices.pinFile("/dev/null")).rejects.toThrow("is not a regular file");
  });

  test.each([
    ["directory", false, "/workspace/directory"],
    ["directory", true, "/workspace/directory"],
    ["file", false, "400 INVALID_PATH"],
    ["file", true, "409 FILE_ALREADY_EXISTS"],
    ["new/below", false, "404 FILE_NOT_FOUND"],
    ["new/below", true, "/workspace/new/below"],
    ["in/new", true, "/other/new"],
    ["file/new", true, "400 INVALID_PATH"],
    ["out-directory/new", true, "403 PATH_NOT_ALLOWED"],
    ["../absent", true, "404 FILE_NOT_FOUND"],
  ])(
    "as a directory by %s, made when need be (%2$s), is %3$s, and nothing stays open",
    async (path, create, expected) => {
      expect(await outcome(tree.pinDirectory(join(workspace, path), create))).toBe(expected);
      expect(held()).toBe(0);
      expect(readdirSync(join(home, "outside"))).toEqual(["secret"]);
    },
  );

  test("as a directory is not made unless that is asked for", async () => {
    expect(await outcome(tree.pinDirectory(join(workspace, "new")))).toBe("404 FILE_NOT_FOUND");
    expect(readdirSync(workspace)).not.toContain("new");
  });

  test("as a directory says why it cannot be made", async () => {
    const system = await ServedTree.create(["/sys"]);
    expect(await outcome(system.pinDirectory("/sys/new", true))).toBe("403 PERMISSION_DENIED");
  });

  test("may be in a served directory that came later", async () => {
    await mkdir(join(home, "absent"));
    expect(await outcome(tree.pin(join(home, "absent")))).toBe("/absent");
  });

  test("as a directory may be made by two at a time", async () => {
    const path = join(workspace, "new", "below");
    const made = await Promise.all([1, 2, 3].map(() => outcome(tree.pinDirectory(path, true))));
    expect(made).toEqual(Array(3).fill("/workspace/new/below"));
  });

  test("stays what it is when its path leads elsewhere", async () => {
    using pin = await tree.pin(join(workspace, "directory"));
    await rm(join(workspace, "directory"), { recursive: true });
    await symlink(join(home, "outside"), join(workspace, "directory"));
    await expect(readFile(pin.entry("secret"))).rejects.toThrow("ENOENT");
    expect((await stat(pin.location)).ino).toBe(pin.stats.ino);
  });

  test("is read by what it is, and given up once", async () => {
    const pin = await tree.pinFile(join(workspace, "file"));
    using opened = pin.open();
    expect({ name: opened.name, size: opened.size, text: opened.read(1, 10).toString() }).toEqual({
      name: "file",
      size: 4,
      text: "ext",
    });
    const descriptor = Number(pin.location.split("/").at(-1));
    expect(fstatSync(descriptor).isFile()).toBe(true);
    pin.close();
    expect(() => fstatSync(descriptor)).toThrow("EBADF");
  });

  test("by a name that is not UTF-8 is found by how it reads", async () => {
    await writeFile(Buffer.concat([Buffer.from(`${workspace}/caf`), Buffer.from([0xe9])]), "x");
    expect(await outcome(tree.pin(join(workspace, "caf\ufffd")))).toMatch(/^\/workspace\/caf/);
    expect(await outcome(tree.pin(join(workspace, "the\ufffd")))).toBe("404 FILE_NOT_FOUND");
    using directory = await tree.pin(workspace);
    const entry = await directory.existingEntry("caf\ufffd");
    expect(entry.at(-1)).toBe(0xe9);
    expect((await directory.existingEntry("the\ufffd")).toString()).toBe(directory.entry("the\ufffd"));
  });
});

test("that a path is missing is told from other problems", () => {
  const missing = fileProblem(Object.assign(new Error("x"), { code: "ENOENT" }), "/a");
  expect(isMissing(missing)).toBe(true);
  expect(isMissing(fileProblem(Object.assign(new Error("x"), { code: "EACCES" }), "/a"))).toBe(false);
  expect(isMissing(new Error("FILE_NOT_FOUND"))).toBe(false);
  expect(isMissing({ code: "FILE_NOT_FOUND" })).toBe(false);
});
