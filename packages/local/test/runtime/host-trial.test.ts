import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { forgetTrials, tryOnce } from "../../src/runtime/host/host-trial.js";
import { keptOrMade } from "../../src/runtime/host/kept-bytes.js";

let directory: string;
let program: string;
const attempt = vi.fn(async () => true);

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "trials-"));
  vi.stubEnv("XDG_CACHE_HOME", directory);
  vi.stubEnv("PATH", `${directory}:${process.env.PATH}`);
  program = join(directory, "tried");
  await writeFile(program, "", { mode: 0o755 });
});

afterEach(async () => {
  vi.unstubAllEnvs();
  attempt.mockReset().mockImplementation(async () => true);
  await rm(directory, { recursive: true });
});

const attempts = async (about?: unknown): Promise<number> => {
  await tryOnce("name", { programs: ["tried"], about }, attempt);
  return attempt.mock.calls.length;
};

test("a trial that succeeded is not repeated", async () => {
  expect(await attempts()).toBe(1);
  expect(await attempts()).toBe(1);
});

test.each<[string, () => Promise<unknown>]>([
  ["its program has changed", () => utimes(program, 1, 1)],
  ["its program was removed", () => rm(program)],
  ["programs are looked for elsewhere", async () => vi.stubEnv("PATH", `/bin:${process.env.PATH}`)],
  ["all results were forgotten", forgetTrials],
])("a trial is repeated when %s", async (_, change) => {
  await attempts();
  await change();
  expect(await attempts()).toBe(2);
});

test("a trial is repeated when it is about something else", async () => {
  await attempts("one");
  expect(await attempts("another")).toBe(2);
});

test("a trial that failed is repeated", async () => {
  attempt.mockResolvedValueOnce(false);
  attempt.mockRejectedValueOnce(new Error("refused"));
  expect(await attempts()).toBe(1);
  await expect(attempts()).rejects.toThrow("refused");
  expect(await attempts()).toBe(3);
  expect(await attempts()).toBe(3);
});

test("only the results of trials are forgotten", async () => {
  await keptOrMade("other", async () => Buffer.from("kept"));
  await attempts();
  await forgetTrials();
  expect(await readdir(join(directory, "cloud-sandbox-local"))).toEqual(["other.kept"]);
});
