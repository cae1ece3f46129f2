import { mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(() => agent[Symbol.asyncDispose]());
beforeEach(async () => {
  await rm(agent.workspace, { recursive: true });
  await mkdir(join(agent.workspace, "directory/deep"), { recursive: true });
  await writeFile(join(agent.workspace, "file"), "content", { mode: 0o640 });
  await writeFile(join(agent.workspace, "other"), "other");
  await symlink("/etc/passwd", join(agent.workspace, "link"));
});

const at = (path: string) => join(agent.workspace, path);
const move = (path: string, to: string, overwrite = false) =>
  agent.call("POST", "/files/rename", { path, new_path: to, overwrite });
const describePath = (path: string) => agent.call("GET", `/files/stat?path=${encodeURIComponent(path)}`);

describe("moving", () => {
  test("takes a file to a directory that did not exist", async () => {
    expect((await move("file", "new/place")).body).toMatchObject({ success: true, path: at("new/place") });
    expect(await readFile(at("new/place"), "utf8")).toBe("content");
    expect(await readdir(agent.workspace)).not.toContain("file");
  });

  test("takes a directory with all it holds", async () => {
    expect((await move("directory", "renamed")).status).toBe(200);
    expect(await readdir(at("renamed"))).toEqual(["deep"]);
  });

  test("takes a link itself, wherever it points to", async () => {
    expect((await move("link", "moved")).status).toBe(200);
    expect(await readlink(at("moved"))).toBe("/etc/passwd");
  });

  test("goes from one file system to another with a file, its content and mode", async () => {
    const to = join(agent.temporary, "moved");
    expect((await move("file", to)).status).toBe(200);
    expect([await readFile(to, "utf8"), (await stat(to)).mode & 0o777]).toEqual(["content", 0o640]);
    expect(await readdir(agent.workspace)).not.toContain("file");
  });

  test.for([
    ["onto a file", "file", "other", false, 409, "FILE_ALREADY_EXISTS"],
    ["onto a directory, even to overwrite", "file", "directory", true, 409, "FILE_ALREADY_EXISTS"],
    ["of nothing", "nothing", "place", false, 404, "FILE_NOT_FOUND"],
    ["of a directory into itself", "directory", "directory/deep/inside", false, 400, "INVALID_PATH"],
    ["through a file", "file", "other/below", false, 409, "FILE_ALREADY_EXISTS"],
    ["of a root", ".", "place", false, 403, "PATH_NOT_ALLOWED"],
    ["to the outside", "file", "/etc/file", false, 403, "PATH_NOT_ALLOWED"],
    ["from the outside", "/etc/passwd", "file2", false, 403, "PATH_NOT_ALLOWED"],
  ] as const)("is refused %s", async ([, path, to, overwrite, status, code]) => {
    const answer = await move(path, to, overwrite);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    expect(await readFile(at("file"), "utf8")).toBe("content");
  });

  test("through a link to the outside is refused, both ways", async () => {
    await symlink("/etc", at("outside"));
    for (const [from, to] of [
      ["outside/passwd", "place"],
      ["file", "outside/file"],
    ] as const)
      expect((await move(from, to)).body.code).toBe("PATH_NOT_ALLOWED");
  });
});

describe("describing", () => {
  test.for([
    ["file", { size: 7, mode: "0640", is_directory: false, is_symlink: false }],
    ["directory", { name: "directory", is_directory: true, is_dir: true }],
    ["link", { is_symlink: true, is_directory: false }],
    [".", { is_directory: true }],
  ] as const)("%s", async ([path, facts]) => {
    expect((await describePath(path)).body).toMatchObject({ path: at(path).replace(/\/\.$/, ""), ...facts });
  });

  test.for([
    ["nothing", 404, "FILE_NOT_FOUND"],
    ["/etc/passwd", 403, "PATH_NOT_ALLOWED"],
    ["file/below", 400, "INVALID_PATH"],
  ] as const)("%s is refused", async ([path, status, code]) => {
    const answer = await describePath(path);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  });
});
