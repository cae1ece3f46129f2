import { expect, test } from "vitest";
import { LoadLimit, type LoadShare } from "../../src/http/load-limit.js";

test("one token takes at most half of the requests and of the bytes, and gives them back", () => {
  const limit = new LoadLimit({ mostRequests: 4, mostBytes: 100 });
  const [first, second] = [limit.enter("a"), limit.enter("a")];
  expect(limit.enter("a")).toBeUndefined();
  expect([first?.take(30), second?.take(30), second?.take(20)]).toEqual([true, false, true]);
  const other = limit.enter("b") as LoadShare;
  expect([other.take(50), other.take(1)]).toEqual([true, false]);
  for (const share of [first, second]) share?.leave();
  const again = limit.enter("a") as LoadShare;
  expect([again.take(50), again.take(1)]).toEqual([true, false]);
});

test("where clients need no token, they share all of it", () => {
  const limit = new LoadLimit({ mostRequests: 2, mostBytes: 100 });
  const shares = [limit.enter(""), limit.enter("")];
  expect(shares[0]?.take(100)).toBe(true);
  expect(limit.enter("")).toBeUndefined();
  for (const share of shares) share?.leave();
  expect(limit.enter("")?.take(100)).toBe(true);
});

test("bytes count when they arrive, not when they are announced", () => {
  const limit = new LoadLimit({ mostRequests: 1000, mostBytes: 100 });
  const silent = Array.from({ length: 400 }, () => limit.enter("slow"));
  expect(silent.every((share) => share !== undefined)).toBe(true);
  expect(limit.enter("other")?.take(50)).toBe(true);
});
