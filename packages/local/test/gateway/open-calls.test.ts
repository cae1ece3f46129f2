import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { OpenCalls } from "../../src/gateway/open-calls.js";

let calls: OpenCalls;
beforeEach(() => {
  vi.useFakeTimers();
  calls = new OpenCalls();
});
afterEach(() => {
  vi.useRealTimers();
});

test("a call is cut when it is no longer allowed, and others on their own connections go on", () => {
  const [cut, kept] = [new PassThrough(), new PassThrough()];
  let isAllowed = true;
  calls.add({ socket: cut, answered: new EventEmitter(), isAllowed: () => isAllowed });
  calls.add({ socket: kept, answered: new EventEmitter(), isAllowed: () => true });
  vi.advanceTimersByTime(1000);
  expect([cut.destroyed, kept.destroyed]).toEqual([false, false]);
  isAllowed = false;
  vi.advanceTimersByTime(1000);
  expect([cut.destroyed, kept.destroyed]).toEqual([true, false]);
});

test("nothing is kept of calls that were answered, or whose caller has gone already", () => {
  const isAllowed = vi.fn(() => true);
  const answered = new EventEmitter();
  calls.add({ socket: new PassThrough(), answered, isAllowed });
  expect(vi.getTimerCount()).toBe(1);
  answered.emit("close");
  calls.add({ socket: new PassThrough().destroy(), answered: new EventEmitter(), isAllowed });
  expect(vi.getTimerCount()).toBe(0);
  expect(isAllowed).not.toHaveBeenCalled();
});
