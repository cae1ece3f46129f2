import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Sealer } from "../../src/store/sealer.js";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "sealer-"));
});
afterEach(() => rm(directory, { recursive: true }));

async function keyFile(content: string | Buffer, mode = 0o600): Promise<string> {
  const path = join(directory, "key");
  await writeFile(path, content, { mode });
  await chmod(path, mode);
  return path;
}

test.each<[string, string | Buffer]>([
  ["32 bytes", Buffer.alloc(32, 7)],
  ["64 hexadecimal digits", `${"07".repeat(32)}\n`],
])("a key is %s", async (_, content) => {
  const sealer = Sealer.fromFile(await keyFile(content), undefined);
  const sealed = sealer.seal("text", "this");
  expect(sealed).not.toContain("text");
  expect(sealer.open(sealed, "this")).toBe("text");
  expect(sealer.id).toBe(Sealer.fromFile(await keyFile(Buffer.alloc(32, 7)), undefined).id);
});

test("a text is opened only with its key, as what it is, and unchanged", async () => {
  const sealer = Sealer.fromFile(await keyFile(Buffer.alloc(32, 7)), undefined);
  const other = Sealer.fromFile(await keyFile(Buffer.alloc(32, 8)), undefined);
  const sealed = sealer.seal("text", "this");
  expect(other.open(sealed, "this")).toBeUndefined();
  expect(sealer.open(sealed, "that")).toBeUndefined();
  expect(sealer.open(sealer.seal("text", "this").replace(/^.{4}/, "AAAA"), "this")).toBeUndefined();
  expect(sealer.open("", "this")).toBeUndefined();
  expect(sealer.seal("text", "this")).not.toBe(sealed);
});

describe("a file is refused that", () => {
  test("others can read", async () => {
    const path = await keyFile(Buffer.alloc(32), 0o640);
    expect(() => Sealer.fromFile(path, undefined)).toThrow("other users can read it");
  });

  test("has no key", async () => {
    const path = await keyFile("too short");
    expect(() => Sealer.fromFile(path, undefined)).toThrow("32 bytes");
  });

  test("is in the data directory", async () => {
    await mkdir(join(directory, "data"));
    const path = join(directory, "data", "key");
    await writeFile(path, Buffer.alloc(32), { mode: 0o600 });
    expect(() => Sealer.fromFile(path, join(directory, "data"))).toThrow("it is in the data directory");
  });

  test("does not exist", () => {
    expect(() => Sealer.fromFile(join(directory, "none"), undefined)).toThrow("ENOENT");
  });
});
