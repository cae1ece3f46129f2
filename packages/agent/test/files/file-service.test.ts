import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { copy, isTemporaryName } from "../../src/files/file-service.js";
import {
  at,
  content,
  files,
  held,
  home,
  other,
  plain,
  put,
  refusal,
  serveFiles,
  workspace,
} from "../support/served-files.js";

serveFiles();

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

  test("does not replace a file that another program creates at the same time", async () => {
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

  test.each([
    ["a name beside it", "new", "new"],
    ["a path from the root", "/", "directory/new"],
    ["a way through a linked directory and back", "to-deep/../new", "directory/new"],
    ["another link to nothing", "second", "directory/new"],
  ])("through a link to nothing, which is %s, makes it", async (_, target, made) => {
    await mkdir(at("directory/deep"), { recursive: true });
    await symlink("directory/deep", at("to-deep"));
    await symlink("to-deep/../new", at("second"));
    await symlink(target === "/" ? at(made) : target, at("link"));
    await expect(put("link", "x", { ...plain, overwrite: false })).rejects.toEqual(
      refusal(409, "FILE_ALREADY_EXISTS"),
    );
    expect(await put("link", "new")).toEqual({ path: at("link"), size: 3 });
    expect(await content(made)).toBe("new");
    expect(await readlink(at("link"))).toBeTypeOf("string");
  });

  test.each([0o755, 0o400, 0o666])(
    "keeps the mode %o of what it replaces, also behind a link",
    async (mode) => {
      await put("f", "one", { mode, overwrite: true });
      await symlink("f", at("link"));
      await put("f", "two");
      await put("link", "three");
      expect([await content("f"), (await stat(at("f"))).mode & 0o7777]).toEqual(["three", mode]);
      await put("f", "four", { mode: 0o640, overwrite: true });
      expect((await stat(at("f"))).mode & 0o7777).toBe(0o640);
    },
  );

  test("gives a new file the mode 0644, and keeps what changes while it is written", async () => {
    await put("f", "one");
    expect((await stat(at("f"))).mode & 0o7777).toBe(0o644);
    await files.write("f", plain, (append) => {
      append(Buffer.from("two"));
      chmodSync(at("f"), 0o755);
    });
    expect((await stat(at("f"))).mode & 0o7777).toBe(0o755);
  });

  test.each<[string, string, number, string, RegExp]>([
    ["a directory", "directory", 400, "INVALID_PATH", /directory is a directory\.$/],
    ["a root", ".", 400, "INVALID_PATH", /workspace is a directory\.$/],
    ["a pipe", "fifo", 400, "INVALID_PATH", /fifo is not a regular file\.$/],
    ["a link to a directory", "to-directory", 400, "INVALID_PATH", /is a directory\.$/],
    ["a link to the outside", "to-outside", 403, "PATH_NOT_ALLOWED", /not in/],
    ["a link to nothing outside", "to-new-outside", 403, "PATH_NOT_ALLOWED", /not in/],
    ["a link to a new directory", "to-new-directory", 404, "FILE_NOT_FOUND", /does not exist/],
    ["a link to itself", "to-itself", 400, "INVALID_PATH", /too many symbolic links\.$/],
    ["a link to a directory's end", "to-slash", 400, "INVALID_PATH", /is a directory\.$/],
    ["a name that is too long", "x".repeat(300), 400, "INVALID_PATH", /is too long\.$/],
  ])("to %s is refused", async (_, path, status, code, message) => {
    await mkdir(at("directory"));
    execFileSync("mkfifo", [at("fifo")]);
    await symlink(at("directory"), at("to-directory"));
    await symlink(join(home, "outside", "new"), at("to-outside"));
    await symlink(join(home, "outside", "none"), at("to-new-outside"));
    await symlink("none/file", at("to-new-directory"));
    await symlink("to-itself", at("to-itself"));
    await symlink("none/", at("to-slash"));
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
    // Let the file end in the middle of a UTF-8 character, which the service reads last.
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
])("whether %s is a name that the agent itself makes is %s", (name, isOurs) =>
  expect(isTemporaryName(name)).toBe(isOurs),
);

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
