import { describe, expect, test } from "vitest";
import { failedWith, fileProblem } from "../../src/files/file-problem.js";
import { refusal } from "../support/served-files.js";

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
