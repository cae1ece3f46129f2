import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FileReader, type fileOperations } from "../../src/snapshot/file-reader.js";

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "file-reader-"));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

type Fact = Readonly<Record<string, unknown>>;

async function read(operation: (typeof fileOperations)[number], request: object): Promise<Fact[]> {
  const reader = new FileReader({ directories: [`${place}/`], mounts: [], temporary: place });
  const facts: Fact[] = [];
  for await (const line of reader.read(operation, Readable.from([JSON.stringify(request)])))
    facts.push(...JSON.parse(line).facts);
  return facts;
}

describe("files of a sandbox", () => {
  test("are listed in the order of their bytes, a directory before what is in it", async () => {
    for (const directory of ["a", "a/b", ".cloud-sandbox-state"]) mkdirSync(join(place, directory));
    for (const file of ["a/b/c", "a-b", "a/.cloud-sandbox-own", ".cloud-sandbox-state/x"])
      writeFileSync(join(place, file), "text");
    chmodSync(join(place, "a-b"), 0o755);
    symlinkSync("a\n", join(place, "link"));
    writeFileSync(Buffer.concat([Buffer.from(`${place}/`), Buffer.from([0xff])]), "");
    execFileSync("mkfifo", [join(place, "pipe")]);
    const file = { type: "file", size: 4, executable: false, modified: expect.stringMatching(/^\d{19}$/) };
    expect(await read("list", {})).toEqual([
      { path: `${place}/a`, type: "directory" },
      { ...file, path: `${place}/a/.cloud-sandbox-own` },
      { path: `${place}/a/b`, type: "directory" },
      { ...file, path: `${place}/a/b/c` },
      { ...file, path: `${place}/a-b`, executable: true },
      { path: `${place}/link`, type: "link", target: "a\n" },
      { path: `${place}/pipe`, type: "other" },
      { ...file, path: `${place}/\xff`, size: 0 },
    ]);
  });

  test("have digests and content, but for what cannot be read", async () => {
    const [file, link, pipe, large] = ["file", "link", "pipe", "large"].map((name) => join(place, name));
    writeFileSync(String(file), "\u00e9");
    writeFileSync(String(large), "x".repeat(11));
    symlinkSync("/nowhere", String(link));
    execFileSync("mkfifo", [String(pipe)]);
    const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
    expect(await read("digests", { paths: [file, link, pipe, place] })).toEqual([
      { path: file, digest: digest("\u00e9") },
      { path: link, digest: digest("/nowhere") },
      { path: pipe },
      { path: place },
    ]);
    const side = async (path: unknown) => (await read("side", { path, largest: 10 }))[0]?.side;
    expect(await side(file)).toEqual({ bytes: "\xc3\xa9" });
    expect(await side(link)).toEqual({ bytes: "/nowhere" });
    expect(await side(pipe)).toEqual({ omitted: "binary" });
    expect(await side(large)).toEqual({ omitted: "too_large" });
    expect(await side(place)).toBeUndefined();
  });

  test("are read no further when nobody takes them, and by nobody who has left", async () => {
    const directory = "x".repeat(200);
    for (let count = 0; count < 2000; count += 1) mkdirSync(join(place, `${directory}${count}`));
    const reader = new FileReader({ directories: [place], mounts: [], temporary: "/tmp" });
    let lines = 0;
    for await (const line of reader.read("list", Readable.from(["{}"]))) {
      expect(line.length).toBeLessThan(100_000);
      lines += 1;
      if (lines === 2) break;
    }
    expect(lines).toBe(2);
  });
});
