import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemNames } from "../../src/addresses/system-names.js";

/** The machine's own look-ups that run, by name; a test lets them end. */
const running = vi.hoisted(() => new Map<string, (outcome: string[] | Error) => void>());
vi.mock("node:dns/promises", () => ({
  lookup: (name: string) =>
    new Promise((resolve, reject) => {
      running.set(name, (outcome) => {
        running.delete(name);
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome.map((address) => ({ address })));
      });
    }),
}));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  for (const end of running.values()) end([]);
});

const unknown = Object.assign(new Error("unknown"), { code: "ENOTFOUND" });
const known = systemNames(async () => ["1.1.1.1"]);
const unknownToServers = systemNames(() => Promise.reject(unknown));

test("what the machine's programs get is taken, for a quarter of a second also if its name servers have another address", async () => {
  const found = known("a.corp.test");
  await vi.advanceTimersByTimeAsync(249);
  running.get("a.corp.test")?.(["127.0.0.2", "::2"]);
  expect(await found).toEqual(["127.0.0.2", "::2"]);
  const late = known("b.corp.test");
  await vi.advanceTimersByTimeAsync(250);
  expect(await late).toEqual(["1.1.1.1"]);
});

test("a name that only the machine itself knows is waited for", async () => {
  const found = unknownToServers("printer.local");
  await vi.advanceTimersByTimeAsync(10_000);
  running.get("printer.local")?.(["10.0.0.9"]);
  expect(await found).toEqual(["10.0.0.9"]);
});

test("a name that nobody knows is the machine's own error", async () => {
  const error = Object.assign(new Error("own"), { code: "EAI_AGAIN" });
  const found = unknownToServers("a.corp.test");
  found.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(0);
  running.get("a.corp.test")?.(error);
  await expect(found).rejects.toBe(error);
});

test("slow names of one caller hold one thread, and are refused beyond sixteen", async () => {
  const asked = Array.from({ length: 16 }, (_, index) => unknownToServers(`slow-${index}.test`, "one"));
  for (const each of asked) each.catch(() => undefined);
  const same = unknownToServers("slow-0.test", "one");
  await expect(unknownToServers("one-more.test", "one")).rejects.toMatchObject({ code: "ETIMEOUT" });
  const other = unknownToServers("other.test", "another");
  await vi.advanceTimersByTimeAsync(0);
  expect([...running.keys()]).toEqual(["slow-0.test", "other.test"]);
  running.get("other.test")?.(["10.0.0.2"]);
  running.get("slow-0.test")?.(["10.0.0.1"]);
  expect(await other).toEqual(["10.0.0.2"]);
  expect(await Promise.all([asked[0], same])).toEqual([["10.0.0.1"], ["10.0.0.1"]]);
});
