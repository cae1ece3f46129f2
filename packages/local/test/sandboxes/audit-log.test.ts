import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
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

test("the file is bounded: a full one is kept once, and a new one is begun", async () => {
  const log: string[] = [];
  const audit = new AuditLog(file(), (line) => log.push(line), 1000);
  for (const id of ["1", "2", "3", "4", "5"]) audit.note(entry(id));
  audit.close();
  const ids = async (path: string) =>
    (await readFile(path, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).sandbox);
  expect([await ids(`${file()}.1`), await ids(file())]).toEqual([["3", "4"], ["5"]]);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect(log).toEqual([]);
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
