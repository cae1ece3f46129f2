import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { firstConnection } from "../../src/egress/first-connection.js";

/** A connection that is being made. Here no address answers unless the test says so. */
class Attempt extends EventEmitter {
  isDestroyed = false;
  constructor(readonly host: string) {
    super();
    attempts.push(this);
  }
  destroy(): void {
    this.isDestroyed = true;
  }
}
const attempts: Attempt[] = [];
vi.mock("node:net", async (original) => ({
  ...(await original<typeof import("node:net")>()),
  connect: ({ host }: { host: string }) => new Attempt(host),
}));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  attempts.length = 0;
});

const never = new AbortController().signal;
const hosts = (): string[] => attempts.map(({ host }) => host);
const five = ["1.1.1.1", "1.1.1.2", "1.1.1.3", "::1", "::2"];

test("the next address is tried after a quarter of a second, IPv4 and IPv6 in turn, and the first that answers is taken", async () => {
  const found = firstConnection(five, 80, never);
  expect(hosts()).toEqual(["1.1.1.1"]);
  await vi.advanceTimersByTimeAsync(249);
  expect(hosts()).toEqual(["1.1.1.1"]);
  await vi.advanceTimersByTimeAsync(1);
  expect(hosts()).toEqual(["1.1.1.1", "::1"]);
  await vi.advanceTimersByTimeAsync(250);
  attempts[0]?.emit("connect");
  expect(await found).toBe(attempts[0]);
  expect(attempts.map(({ isDestroyed }) => isDestroyed)).toEqual([false, true, true]);
  await vi.advanceTimersByTimeAsync(5000);
  attempts[1]?.emit("error", new Error("late"));
  expect(attempts).toHaveLength(3);
});

test("the next address is tried at once where one fails, and the first error is reported when all have", async () => {
  const found = firstConnection(five.slice(0, 2), 80, never);
  const refused = new Error("refused");
  attempts[0]?.emit("error", refused);
  expect(hosts()).toEqual(["1.1.1.1", "1.1.1.2"]);
  attempts[1]?.emit("error", new Error("other"));
  await expect(found).rejects.toBe(refused);
});

test("no more than six addresses are tried, and all attempts end with the caller", async () => {
  const many = Array.from({ length: 50 }, (_, index) => `1.1.1.${index}`);
  const gone = new AbortController();
  const found = firstConnection(many, 80, gone.signal);
  found.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(attempts).toHaveLength(6);
  gone.abort(new Error("gone"));
  await expect(found).rejects.toThrow("gone");
  expect(attempts.every(({ isDestroyed }) => isDestroyed)).toBe(true);
  await expect(firstConnection(many, 80, gone.signal)).rejects.toThrow("gone");
  expect(attempts).toHaveLength(6);
});
