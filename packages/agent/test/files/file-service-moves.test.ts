import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isTemporaryName } from "../../src/files/file-service.js";
import {
  at,
  content,
  elsewhere,
  files,
  onTwoFileSystems,
  plain,
  put,
  refusal,
  serveFiles,
  workspace,
} from "../support/served-files.js";

serveFiles();

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

  test("of several at once to one name moves one, and loses none", async () => {
    const names = ["a", "b", "c", "d"];
    for (let round = 0; round < 100; round += 1) {
      for (const name of names) await put(name, name);
      const moved = await Promise.allSettled(names.map((name) => files.rename(name, "target", false)));
      expect(moved.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await readdir(workspace)).toHaveLength(4);
      await files.remove("target");
    }
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
    expect(await files.move("f", "a/g", plain)).toBe(at("a/g"));
    expect(await content("a/g")).toBe("1");
    expect(await readdir(workspace)).toEqual(["a"]);
  });

  test("goes to another file system, too", async ({ skip }) => {
    skip(!onTwoFileSystems(), "there is one file system only");
    await put("f", "1", { mode: 0o640, overwrite: true });
    await writeFile(join(elsewhere, "g"), "2");
    await files.move("f", join(elsewhere, "g"), { mode: 0o640, overwrite: true });
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
    await expect(files.move(from, to, plain)).rejects.toEqual(refusal(status, code));
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

  test("is first uploaded to a name of its own in the workspace, which is removed again", async () => {
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
