import { execFileSync } from "node:child_process";
import { readdirSync, readlinkSync, realpathSync, statSync, writeFileSync } from "node:fs";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { failedWith, fileProblem } from "../../src/files/file-problem.js";
import { copy, FileService, isTemporaryName } from "../../src/files/file-service.js";
import { OpenFile } from "../../src/files/open-file.js";
import { ServedTree } from "../../src/files/served-tree.js";
import { readsLike } from "../../src/files/unreadable-name.js";

let home: string;
let workspace: string;
let other: string;
/** On another file system, where this machine has one. */
let elsewhere: string;
let files: FileService;

beforeEach(async () => {
  home = realpathSync(await mkdtemp(join(tmpdir(), "file-service-")));
  [workspace, other] = [join(home, "workspace"), join(home, "other")];
  elsewhere = realpathSync(
    await mkdtemp(
      join(statSync("/dev/shm", { throwIfNoEntry: false }) ? "/dev/shm" : tmpdir(), "file-service-"),
    ),
  );
  for (const directory of [workspace, other, join(home, "outside")]) await mkdir(directory);
  files = new FileService(await ServedTree.create([workspace, other, elsewhere]));
});
afterEach(async () => {
  for (const directory of [home, elsewhere]) await rm(directory, { recursive: true, force: true });
});

const at = (path: string): string => join(workspace, path);
const plain = { mode: 0o644, overwrite: true };
const put = (path: string, content: string, options = plain) =>
  files.write(path, options, (append) => append(Buffer.from(content)));
const content = (path: string): Promise<string> => readFile(join(workspace, path), "utf8");

/** What a refusal says. */
const refusal = (status: number, code: string, message: string | RegExp = /./) =>
  expect.objectContaining({ status, code, message: expect.stringMatching(message) });

/** How many descriptors this process has on what is served. */
const held = (): number =>
  readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      const where = readlinkSync(`/proc/self/fd/${descriptor}`);
      return where.startsWith(home) || where.startsWith(elsewhere);
    } catch {
      return false;
    }
  }).length;

afterEach(() => expect(held()).toBe(0));

const onTwoFileSystems = (): boolean => statSync(workspace).dev !== statSync(elsewhere).dev;

describe("writing", () => {
  test("makes a file of the bytes in all pieces, with its mode and the directories above it", async () => {
    const written = await files.write("a/b/c", { mode: 0o751, overwrite: true }, (append) => {
      append(Buffer.from("hé"));
      append(Buffer.from("llo"));
    });
    expect(written).toEqual({ path: at("a/b/c"), size: 6 });
    expect(await content("a/b/c")).toBe("héllo");
    expect((await stat(at("a/b/c"))).mode & 0o777).toBe(0o751);
    expect(await readdir(at("a/b"))).toEqual(["c"]);
  });

  test("replaces a file at once, and only where that is wanted", async () => {
    await put("f", "one");
    await put("f", "two");
    expect(await content("f")).toBe("two");
    const wanted = refusal(409, "FILE_ALREADY_EXISTS", `${at("f")} exists already.`);
    await expect(put("f", "three", { ...plain, overwrite: false })).rejects.toEqual(wanted);
    await put("g", "new", { ...plain, overwrite: false });
    expect([await content("f"), await content("g")]).toEqual(["two", "new"]);
    expect(await readdir(workspace)).toEqual(["f", "g"]);
  });

  test("that somebody else was faster at does not replace his file", async () => {
    const slow = files.write("f", { ...plain, overwrite: false }, (append) => {
      append(Buffer.from("mine"));
      writeFileSync(at("f"), "his");
    });
    await expect(slow).rejects.toEqual(refusal(409, "FILE_ALREADY_EXISTS"));
    expect(await content("f")).toBe("his");
    expect(await readdir(workspace)).toEqual(["f"]);
  });

  test("that breaks off leaves what was there, and nothing else", async () => {
    await put("f", "one");
    const broken = files.write("f", plain, async (append) => {
      append(Buffer.from("tw"));
      expect((await readdir(workspace)).filter(isTemporaryName)).toHaveLength(1);
      throw new Error("broken");
    });
    await expect(broken).rejects.toThrow("broken");
    expect(await content("f")).toBe("one");
    expect(await readdir(workspace)).toEqual(["f"]);
  });

  test("through a link writes what it leads to", async () => {
    await writeFile(join(other, "target"), "one");
    await symlink(join(other, "target"), at("link"));
    await expect(put("link", "two", { ...plain, overwrite: false })).rejects.toEqual(
      refusal(409, "FILE_ALREADY_EXISTS", `${at("link")} exists already.`),
    );
    expect(await put("link", "two")).toEqual({ path: at("link"), size: 3 });
    expect(await readFile(join(other, "target"), "utf8")).toBe("two");
    expect(await readlink(at("link"))).toBe(join(other, "target"));
    expect(await readdir(other)).toEqual(["target"]);
  });

  test.each<[string, string, number, string, RegExp]>([
    ["a directory", "directory", 400, "INVALID_PATH", /directory is a directory\.$/],
    ["a root", ".", 400, "INVALID_PATH", /workspace is a directory\.$/],
    ["a pipe", "fifo", 400, "INVALID_PATH", /fifo is not a regular file\.$/],
    ["a link to a directory", "to-directory", 400, "INVALID_PATH", /is a directory\.$/],
    ["a link to the outside", "to-outside", 403, "PATH_NOT_ALLOWED", /not in/],
    ["a link to nothing", "to-nothing", 404, "FILE_NOT_FOUND", /does not exist/],
    ["a name that is too long", "x".repeat(300), 400, "INVALID_PATH", /is too long\.$/],
  ])("to %s is refused", async (_, path, status, code, message) => {
    await mkdir(at("directory"));
    execFileSync("mkfifo", [at("fifo")]);
    await symlink(at("directory"), at("to-directory"));
    await symlink(join(home, "outside", "new"), at("to-outside"));
    await symlink(at("nothing"), at("to-nothing"));
    await writeFile(join(home, "outside", "new"), "theirs");
    await expect(put(path, "x")).rejects.toEqual(refusal(status, code, message));
    expect(await readFile(join(home, "outside", "new"), "utf8")).toBe("theirs");
    expect((await readdir(workspace)).filter(isTemporaryName)).toEqual([]);
  });
});

describe("reading", () => {
  test("gives a file's text, and how many bytes it has", async () => {
    await put("f", "héllo");
    expect(await files.read("f")).toEqual({ path: at("f"), content: "héllo", size: 6 });
    await put("empty", "");
    expect(await files.read("empty")).toEqual({ path: at("empty"), content: "", size: 0 });
  });

  test("gives a large file in pieces of the same answer, and lets go of it", async () => {
    // The last piece ends in the middle of a character.
    const bytes = Buffer.concat([Buffer.from(`"\\\n${"é".repeat(700_000)}`), Buffer.from([0xc3])]);
    await writeFile(at("large"), bytes);
    const answer = await files.read("large");
    expect(answer).toBeInstanceOf(Readable);
    expect(JSON.parse(await text(answer as Readable))).toEqual({
      path: at("large"),
      content: bytes.toString(),
      size: bytes.length,
    });
  });

  test("of a large file that nobody takes to its end lets go of it", async () => {
    await writeFile(at("large"), Buffer.alloc(3_000_000, "x"));
    const answer = (await files.read("large")) as Readable;
    await new Promise((resolve) => answer.once("readable", resolve));
    answer.destroy();
    await expect.poll(held).toBe(0);
  });

  test.each([
    ["that is too large", 64 * 1024 * 1024 + 1, undefined],
    ["whose JSON is", 12 * 1024 * 1024, 1],
  ])("a file %s is refused", async (_, size, byte) => {
    await writeFile(at("large"), byte === undefined ? "" : Buffer.alloc(size, byte));
    if (byte === undefined) await truncate(at("large"), size);
    await expect(files.read("large")).rejects.toEqual(
      refusal(413, "FILE_TOO_LARGE", `${at("large")} takes more than ${64 * 1024 * 1024} bytes as JSON`),
    );
    await expect.poll(held).toBe(0);
  });
});

describe("an open file", () => {
  test("is read from anywhere, no further than it goes", async () => {
    await put("f", "0123456789");
    using file = await files.open("f");
    expect({ size: file.size, name: file.name, path: file.path }).toEqual({
      size: 10,
      name: "f",
      path: at("f"),
    });
    expect(String(file.read(3, 4))).toBe("3456");
    expect(String(file.read(8, 100))).toBe("89");
    expect(String(file.read(10, 5))).toBe("");
    expect(String(file.read(0, 0))).toBe("");
  });

  test.each([
    [undefined, undefined, "0123456789"],
    [2, 4, "234"],
    [7, undefined, "789"],
  ])("is streamed from %s to %s", async (start, end, expected) => {
    await put("f", "0123456789");
    using file = await files.open("f");
    expect(await text(file.stream(start, end))).toBe(expected);
  });

  test("is closed once, and then neither read nor streamed", async () => {
    await put("f", "0123456789");
    const file = await files.open("f");
    expect(held()).toBe(1);
    file[Symbol.dispose]();
    expect(held()).toBe(0);
    file[Symbol.dispose]();
    expect(() => file.read(0, 1)).toThrow(`${at("f")} is closed.`);
    expect(() => file.stream()).toThrow("is closed.");
  });

  test("is its stream's, which closes it", async () => {
    await put("f", "0123456789");
    const file = await files.open("f");
    const stream = file.stream();
    expect(() => file.read(0, 1)).toThrow("is closed.");
    file[Symbol.dispose]();
    expect(await text(stream)).toBe("0123456789");
    await expect.poll(held).toBe(0);
  });

  test("that is a pipe does not hang", () => {
    execFileSync("mkfifo", [at("fifo")]);
    new OpenFile(at("fifo"), "fifo")[Symbol.dispose]();
  });
});

describe("whether something is there", () => {
  test.each([
    ["f", { exists: true, is_directory: false }],
    ["d", { exists: true, is_directory: true }],
    [".", { exists: true, is_directory: true }],
    ["nothing", { exists: false }],
    ["nothing/below", { exists: false }],
  ])("of %s is %j", async (path, expected) => {
    await put("f", "");
    await mkdir(at("d"));
    const absolute = path === "." ? workspace : at(path);
    expect(await files.exists(path)).toEqual({ path: absolute, ...expected });
  });

  test("of what is not served is refused", async () => {
    await expect(files.exists("/etc")).rejects.toEqual(refusal(403, "PATH_NOT_ALLOWED"));
  });
});

describe("listing", () => {
  test("gives all entries by their bytes, however many", async () => {
    const names = Array.from({ length: 150 }, (_, index) => `f${index}`).concat("Z", "a", "ä");
    for (const name of names) writeFileSync(at(name), "");
    const { path, files: entries, ...counts } = await files.list(".");
    expect(path).toBe(workspace);
    expect(entries?.map((entry) => entry?.name)).toEqual(
      [...names].sort((one, two) => Buffer.compare(Buffer.from(one), Buffer.from(two))),
    );
    expect(counts).toEqual({ count: 153, total: 153, truncated: false });
    expect(entries?.[0]?.path).toBe(at("Z"));
  });

  test("of more than ten thousand gives that many, and says so", async () => {
    for (let count = 0; count < 10_001; count += 1) writeFileSync(at(`f${count}`), "");
    const { files: entries, ...counts } = await files.list(".");
    expect(entries).toHaveLength(10_000);
    expect(counts).toMatchObject({ count: 10_000, total: 10_001, truncated: true });
  });

  test.each([
    ["a file", "f", 400, "INVALID_PATH"],
    ["nothing", "nothing", 404, "FILE_NOT_FOUND"],
  ])("of %s is refused", async (_, path, status, code) => {
    await put("f", "");
    await expect(files.list(path)).rejects.toEqual(refusal(status, code));
  });
});

describe("describing", () => {
  test.each([
    ["f", "-rw-r-----", { is_directory: false, is_symlink: false, size: 5 }],
    ["d", /^d/, { is_directory: true, is_symlink: false }],
    ["l", /^l/, { is_directory: false, is_symlink: true }],
    ["fifo", /^p/, { is_directory: false }],
    ["socket", /^s/, { is_directory: false }],
  ])("%s gives what it is", async (name, permissions, facts) => {
    await put("f", "12345", { mode: 0o640, overwrite: true });
    await utimes(at("f"), 1_700_000_000, 1_700_000_000);
    await mkdir(at("d"));
    await symlink("f", at("l"));
    execFileSync("mkfifo", [at("fifo")]);
    execFileSync("python3", ["-c", 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'], {
      cwd: workspace,
    });
    const entry = await files.stat(name);
    expect(entry).toMatchObject({
      name,
      path: at(name),
      ...facts,
      permissions: expect.stringMatching(permissions),
    });
    if (name === "f") expect(Date.parse(String(entry.modified))).toBe(1_700_000_000_000);
    const { files: entries } = await files.list(".");
    expect(entries?.find((one) => one?.name === name)).toEqual(entry);
  });

  test("devices gives what they are", async ({ skip }) => {
    skip(process.getuid?.() !== 0, "only root can make a device");
    execFileSync("mknod", [at("character"), "c", "1", "5"]);
    execFileSync("mknod", [at("block"), "b", "7", "200"]);
    expect((await files.stat("character")).permissions).toMatch(/^c/);
    expect((await files.stat("block")).permissions).toMatch(/^b/);
  });

  test("a root gives the directory", async () => {
    expect(await files.stat(".")).toMatchObject({ path: workspace, is_directory: true });
    expect(await files.stat(other)).toMatchObject({ path: other, is_directory: true });
  });

  test.each([
    ["nothing", "nothing", 404, "FILE_NOT_FOUND", /nothing does not exist\.$/],
    ["what is below a file", "f/below", 400, "INVALID_PATH", /./],
  ])("%s is refused", async (_, path, status, code, message) => {
    await put("f", "");
    await expect(files.stat(path)).rejects.toEqual(refusal(status, code, message));
  });
});

describe("removing", () => {
  test("takes a file, a directory with all in it, and a link itself", async () => {
    await put("f", "");
    await put("d/e/f", "");
    await symlink(join(home, "outside"), at("l"));
    expect(await files.remove("f")).toBe(at("f"));
    for (const path of ["d", "l"]) await files.remove(path);
    expect(await readdir(workspace)).toEqual([]);
    expect(await readdir(home)).toContain("outside");
  });

  test("of nothing and of a root is refused", async () => {
    await expect(files.remove("nothing")).rejects.toEqual(
      refusal(404, "FILE_NOT_FOUND", /nothing does not exist/),
    );
    await expect(files.remove(other)).rejects.toEqual(
      refusal(403, "PATH_NOT_ALLOWED", `${other} itself cannot be removed, only what is in it.`),
    );
  });
});

describe("renaming", () => {
  test("moves a file, its content and its mode, also to where no directory was", async () => {
    await put("f", "1", { mode: 0o600, overwrite: true });
    expect(await files.rename("f", "a/b/g", false)).toBe(at("a/b/g"));
    expect(await content("a/b/g")).toBe("1");
    expect(await readdir(workspace)).toEqual(["a"]);
  });

  test("of something to its own name is no error", async () => {
    await put("f", "1");
    await mkdir(at("d"));
    expect(await files.rename("f", "./f", false)).toBe(at("f"));
    expect(await files.rename("d", "d", false)).toBe(at("d"));
    expect(await content("f")).toBe("1");
  });

  test("over a file replaces it where that is wanted", async () => {
    await put("f", "1");
    await put("g", "2");
    await expect(files.rename("f", "g", false)).rejects.toEqual(
      refusal(409, "FILE_ALREADY_EXISTS", `${at("g")} exists already.`),
    );
    expect(await content("g")).toBe("2");
    await files.rename("f", "g", true);
    expect(await content("g")).toBe("1");
    await mkdir(at("d"));
    await expect(files.rename("g", "d", true)).rejects.toEqual(refusal(409, "FILE_ALREADY_EXISTS"));
  });

  test.each([
    ["of nothing", "nothing", "g", 404, "FILE_NOT_FOUND", /nothing does not exist/],
    ["into itself", "d", "d/e", 400, "INVALID_PATH", /d cannot be moved into itself\.$/],
    ["of a root", ".", "g", 403, "PATH_NOT_ALLOWED", /itself cannot be moved/],
    ["to a root", "d", ".", 403, "PATH_NOT_ALLOWED", /itself cannot be moved/],
    ["to a name that is too long", "d", "x".repeat(300), 400, "INVALID_PATH", /is too long/],
  ])("%s is refused", async (_, from, to, status, code, message) => {
    await mkdir(at("d"));
    await expect(files.rename(from, to, true)).rejects.toEqual(refusal(status, code, message));
    expect(await readdir(workspace)).toEqual(["d"]);
  });

  test("goes to another file system with a file, not with a directory", async ({ skip }) => {
    skip(!onTwoFileSystems(), "there is one file system only");
    await put("f", "1", { mode: 0o600, overwrite: true });
    const to = join(elsewhere, "g");
    expect(await files.rename("f", to, false)).toBe(to);
    expect([await readFile(to, "utf8"), (await stat(to)).mode & 0o777]).toEqual(["1", 0o600]);
    expect(await readdir(workspace)).toEqual([]);
    await put("f", "2");
    await expect(files.rename("f", to, false)).rejects.toEqual(refusal(409, "FILE_ALREADY_EXISTS"));
    await files.rename("f", to, true);
    expect(await readFile(to, "utf8")).toBe("2");
    await mkdir(at("d"));
    await expect(files.rename("d", join(elsewhere, "d"), false)).rejects.toEqual(
      refusal(
        400,
        "INVALID_PATH",
        `${join(elsewhere, "d")} is on another file system than ${at("d")}: move it with the command mv.`,
      ),
    );
    expect(await readdir(workspace)).toEqual(["d"]);
    expect(await readdir(elsewhere)).toEqual(["g"]);
  });
});

describe("moving what was uploaded", () => {
  test("puts it in its place, over what was there", async () => {
    await put("f", "1");
    await put("a/g", "2");
    expect(await files.move("f", "a/g")).toBe(at("a/g"));
    expect(await content("a/g")).toBe("1");
    expect(await readdir(workspace)).toEqual(["a"]);
  });

  test("goes to another file system, too", async ({ skip }) => {
    skip(!onTwoFileSystems(), "there is one file system only");
    await put("f", "1", { mode: 0o640, overwrite: true });
    await writeFile(join(elsewhere, "g"), "2");
    await files.move("f", join(elsewhere, "g"));
    expect(await readFile(join(elsewhere, "g"), "utf8")).toBe("1");
    expect((await stat(join(elsewhere, "g"))).mode & 0o777).toBe(0o640);
    expect([await readdir(workspace), await readdir(elsewhere)]).toEqual([[], ["g"]]);
  });

  test.each([
    ["to a directory", "f", "d", 400, "INVALID_PATH"],
    ["to a name that is too long", "f", "x".repeat(300), 400, "INVALID_PATH"],
    ["of nothing", "nothing", "g", 404, "FILE_NOT_FOUND"],
    ["of a directory", "d", "g", 400, "INVALID_PATH"],
  ])("%s is refused", async (_, from, to, status, code) => {
    await put("f", "1");
    await mkdir(at("d"));
    await expect(files.move(from, to)).rejects.toEqual(refusal(status, code));
    expect(await readdir(workspace)).toEqual(["d", "f"]);
  });

  test.each([
    ["place", "f.txt", "place"],
    ["d", "f.txt", "d/f.txt"],
    ["new/", "f.txt", "new/f.txt"],
    ["d", "../../f.txt", "d/f.txt"],
    ["d", "", "d/upload"],
    ["d", ".", "d/upload"],
    ["d", "..", "d/upload"],
    ["d/f", "f.txt", "d/f"],
  ])("to %s of a file named %j goes to %s", async (path, name, target) => {
    await put("d/f", "");
    expect(await files.uploadTarget(path, name)).toBe(target);
  });

  test("begins at a name of its own in the workspace, which is removed again", async () => {
    const path = files.temporaryPath();
    expect(path.startsWith(`${workspace}/`)).toBe(true);
    expect(isTemporaryName(path.slice(workspace.length + 1))).toBe(true);
    expect(files.temporaryPath()).not.toBe(path);
    await put(path, "1");
    await files.discard(path);
    await files.discard(path);
    expect(await readdir(workspace)).toEqual([]);
  });
});

test.each([
  [".01234567-89ab-cdef-0123-456789abcdef.tmp", true],
  ["x.01234567-89ab-cdef-0123-456789abcdef.tmp", false],
  [".01234567-89ab-cdef-0123-456789abcdef.tmpx", false],
  [".01234567-89ab-cdef-456789abcdef.tmp", false],
  [".0123456g-89ab-cdef-0123-456789abcdef.tmp", false],
  [".0123456-89ab-cdef-0123-456789abcdef.tmp", false],
  [".01234567-89ab-cdef-0123-456789abcdeg.tmp", false],
  [".01234567-89ab-cdef-0123-456789abcde.tmp", false],
  [".01234567-89ag-cdef-0123-456789abcdef.tmp", false],
  [".01234567-89a-cdef-0123-456789abcdef.tmp", false],
  ["01234567-89ab-cdef-0123-456789abcdef.tmp", false],
])("whether %s is a name of ours is %s", (name, isOurs) => expect(isTemporaryName(name)).toBe(isOurs));

test("making a directory makes those above it, and is no error where it is there", async () => {
  expect(await files.makeDirectory("a/b")).toBe(at("a/b"));
  expect(await files.makeDirectory("a/b")).toBe(at("a/b"));
  expect((await stat(at("a/b"))).isDirectory()).toBe(true);
});

describe("copying a stream", () => {
  const pieces = (...texts: string[]): Readable => Readable.from(texts.map((piece) => Buffer.from(piece)));

  test("appends all of it", async () => {
    const got: string[] = [];
    await copy(pieces("a", "b"), (bytes) => got.push(String(bytes)));
    expect(got).toEqual(["a", "b"]);
  });

  test("fails with what the stream fails with, in other words where there are some", async () => {
    const broken = () => new Readable({ read: () => undefined });
    const one = broken();
    const failed = copy(one, () => undefined);
    one.destroy(new Error("broken"));
    await expect(failed).rejects.toThrow("broken");
    const two = broken();
    const told = copy(
      two,
      () => undefined,
      (cause) => new Error(`told: ${cause.message}`),
    );
    two.destroy(new Error("broken"));
    await expect(told).rejects.toThrow("told: broken");
  });

  test("takes nothing more once nothing can be appended", async () => {
    let tries = 0;
    const full = copy(pieces("a", "b", "c"), () => {
      tries += 1;
      throw new Error("full");
    });
    await expect(full).rejects.toThrow("full");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(tries).toBe(1);
  });
});

describe("what the operating system refuses", () => {
  const failure = (code: string): Error => Object.assign(new Error("no"), { code });

  test.each([
    ["ENOENT", 404, "FILE_NOT_FOUND"],
    ["ENOTDIR", 400, "INVALID_PATH"],
    ["EISDIR", 400, "INVALID_PATH"],
    ["ENAMETOOLONG", 400, "INVALID_PATH"],
    ["ELOOP", 400, "INVALID_PATH"],
    ["EEXIST", 409, "FILE_ALREADY_EXISTS"],
    ["ENOTEMPTY", 409, "FILE_OPERATION_FAILED"],
    ["EACCES", 403, "PERMISSION_DENIED"],
    ["EPERM", 403, "PERMISSION_DENIED"],
    ["EROFS", 403, "PERMISSION_DENIED"],
    ["ENOSPC", 413, "DISK_FULL"],
    ["EDQUOT", 413, "DISK_FULL"],
    ["EFBIG", 413, "DISK_FULL"],
    ["ENXIO", 400, "INVALID_PATH"],
    ["ENODEV", 400, "INVALID_PATH"],
    ["EMFILE", 429, "RESOURCE_EXHAUSTED"],
    ["ENFILE", 429, "RESOURCE_EXHAUSTED"],
  ])("as %s is %i %s", (os, status, code) => {
    const problem = fileProblem(failure(os), "/workspace/f");
    expect(problem).toEqual(refusal(status, code, /^\/workspace\/f /));
    expect(problem).toMatchObject({ details: { path: "/workspace/f" } });
  });

  test.each([failure("EWHATEVER"), new Error("no code"), { code: "ENOENT" }, "ENOENT"])(
    "as %j stays as it is",
    (error) => {
      expect(fileProblem(error, "/f")).toBe(error);
    },
  );

  test("is known by its code", () => {
    expect(failedWith(failure("EXDEV"), "EINVAL", "EXDEV")).toBe(true);
    expect(failedWith(failure("EXDEV"), "EINVAL")).toBe(false);
    expect(failedWith(new Error("EXDEV"), "EXDEV")).toBe(false);
    expect(failedWith({ code: "EXDEV" }, "EXDEV")).toBe(false);
  });
});

describe("a name that is no UTF-8", () => {
  const bytes = (...parts: (string | number)[]): Buffer =>
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from([part]))));

  test("is found by how it reads, in every part of a path", async () => {
    const directory = bytes(`${workspace}/d`, 0xff);
    await mkdir(directory);
    await writeFile(Buffer.concat([directory, bytes("/f", 0xfe)]), "1");
    expect(await readsLike(`${workspace}/d\ufffd/f\ufffd`)).toEqual(
      expect.objectContaining({ length: `${workspace}/d`.length + 1 + "/f".length + 1 + 1 }),
    );
    expect(await files.read("d\ufffd/f\ufffd")).toMatchObject({ content: "1" });
    expect((await files.stat("d\ufffd/f\ufffd")).size).toBe(1);
    await files.remove("d\ufffd/f\ufffd");
    expect(await readdir(directory)).toEqual([]);
  });

  test("is not looked for where a path has none, or none is there", async () => {
    expect(await readsLike(at("f"))).toBeUndefined();
    expect(await readsLike(at("\ufffd"))).toBeUndefined();
    expect(await readsLike(at("nothing/\ufffd"))).toBeUndefined();
    await put("f", "");
    expect(await readsLike(at("f/\ufffd"))).toBeUndefined();
    await expect(files.stat("\ufffd")).rejects.toEqual(refusal(404, "FILE_NOT_FOUND"));
  });

  test("gives way to one that is spelled so", async () => {
    await writeFile(at("a\ufffd"), "spelled");
    await writeFile(bytes(`${workspace}/a`, 0xff), "unreadable");
    expect(await files.read("a\ufffd")).toMatchObject({ content: "spelled" });
    await chmod(at("a\ufffd"), 0o600);
    expect((await files.stat("a\ufffd")).size).toBe("spelled".length);
  });

  test("is not guessed where several read the same", async () => {
    for (const byte of [0xfe, 0xff]) await writeFile(bytes(`${workspace}/a`, byte), "");
    await expect(files.stat("a\ufffd")).rejects.toEqual(
      refusal(400, "INVALID_PATH", /several file names that are not UTF-8 are shown as this one/),
    );
  });
});
