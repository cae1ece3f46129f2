import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AuditLog } from "../../src/control-plane/audit-log.js";

let directory: string;
const file = (): string => join(directory, "audit.jsonl");
const entry = (sandbox: string) => ({
  ...{ time: new Date(0), key: "ci", operation: "createSandbox", sandbox, status: 201 },
  ...{ from: "127.0.0.1", forwardedFor: "x".repeat(1000) },
});

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "audit-log-"));
});
afterEach(() => rm(directory, { recursive: true }));

test("the file is bounded: nine full ones are kept, and a new one is begun", async () => {
  const log: string[] = [];
  const audit = new AuditLog(file(), (line) => log.push(line), 1000);
  for (let id = 1; id <= 25; id += 1) audit.note(entry(String(id)));
  audit.close();
  const ids = async (path: string) =>
    (await readFile(path, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).sandbox);
  const files = [9, 8, 7, 6, 5, 4, 3, 2, 1].map((number) => `${file()}.${number}`);
  const kept = await Promise.all([...files, file()].map(ids));
  expect(kept.flat().map(Number)).toEqual(Array.from({ length: 19 }, (_, index) => index + 7));
  expect(await readdir(directory)).toHaveLength(10);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect(log).toEqual([]);
});

test("no field is longer than 200 characters", async () => {
  const audit = new AuditLog(file(), () => undefined);
  const long = "x".repeat(15_000);
  audit.note({ ...entry(long), key: long, from: long, forwardedFor: long });
  audit.close();
  const text = await readFile(file(), "utf8");
  expect(text.length).toBeLessThan(1000);
  expect(JSON.parse(text)).toMatchObject({ sandbox: "x".repeat(200), key: "x".repeat(200) });
});

test("a file that cannot be opened ends the start; one that cannot be written to does not end the server", () => {
  expect(() => new AuditLog(join(directory, "none", "a"), () => undefined)).toThrow(/--audit-log/);
  const log: string[] = [];
  const audit = new AuditLog("/dev/full", (line) => log.push(line));
  audit.note(entry("1"));
  audit.note(entry("2"));
  audit.close();
  expect(log).toHaveLength(1);
});
