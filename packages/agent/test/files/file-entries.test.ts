import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, readdir, stat, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { at, files, home, other, put, refusal, serveFiles, workspace } from "../support/served-files.js";

serveFiles();

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
      refusal(
        403,
        "PATH_NOT_ALLOWED",
        `${other} itself cannot be removed, only the files and directories in it.`,
      ),
    );
  });
});

test("making a directory makes those above it, and is no error where it is there", async () => {
  expect(await files.makeDirectory("a/b")).toBe(at("a/b"));
  expect(await files.makeDirectory("a/b")).toBe(at("a/b"));
  expect((await stat(at("a/b"))).isDirectory()).toBe(true);
});
