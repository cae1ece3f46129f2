import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { readsLike } from "../../src/files/unreadable-name.js";
import { at, files, put, refusal, serveFiles, workspace } from "../support/served-files.js";

serveFiles();

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
