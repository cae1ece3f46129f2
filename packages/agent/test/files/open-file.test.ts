import { execFileSync } from "node:child_process";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { OpenFile } from "../../src/files/open-file.js";
import { at, files, held, put, serveFiles } from "../support/served-files.js";

serveFiles();

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
