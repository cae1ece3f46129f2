import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Deadlines } from "../../src/sandboxes/deadlines.js";

const now = Date.UTC(2026, 0, 1);
let passed: string[];
let deadlines: Deadlines;

beforeEach(() => {
  vi.useFakeTimers({ now });
  passed = [];
  deadlines = new Deadlines((id) => passed.push(id));
});
afterEach(() => {
  deadlines.clearAll();
  // Restore the spies before the timers: a spy on a fake timer would otherwise put the fake back.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const inMs = (milliseconds: number) => new Date(now + milliseconds);

describe("a deadline", () => {
  test("passes once, when its time has come, and not before", () => {
    deadlines.set("a", inMs(5000));
    vi.advanceTimersByTime(4999);
    expect(passed).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(passed).toEqual(["a"]);
    vi.advanceTimersByTime(60_000);
    expect(passed).toEqual(["a"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("in less than a second passes in time", () => {
    deadlines.set("a", inMs(300));
    vi.advanceTimersByTime(299);
    expect(passed).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(passed).toEqual(["a"]);
  });

  test("in the past passes at once", () => {
    const timeouts = vi.spyOn(globalThis, "setTimeout");
    deadlines.set("a", inMs(-60_000));
    expect(timeouts).toHaveBeenLastCalledWith(expect.any(Function), 0);
    vi.advanceTimersByTime(1);
    expect(passed).toEqual(["a"]);
  });

  test("is replaced by another of the same sandbox", () => {
    deadlines.set("a", inMs(2000));
    deadlines.set("a", inMs(8000));
    vi.advanceTimersByTime(7999);
    expect(passed).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(passed).toEqual(["a"]);
  });

  test("that was cleared does not pass, and others do", () => {
    for (const [id, milliseconds] of [
      ["a", 1000],
      ["b", 3000],
      ["c", 2000],
    ] as const)
      deadlines.set(id, inMs(milliseconds));
    deadlines.clear("a");
    vi.advanceTimersByTime(2000);
    expect(passed).toEqual(["c"]);
    vi.advanceTimersByTime(1000);
    expect(passed).toEqual(["c", "b"]);
  });

  test("is checked when the clock was set forward", () => {
    deadlines.set("a", inMs(3_600_000));
    vi.setSystemTime(now + 3_600_000);
    vi.advanceTimersByTime(1000);
    expect(passed).toEqual(["a"]);
  });

  test("does not keep a process running", () => {
    const unref = vi.fn();
    const timer = { unref } as unknown as NodeJS.Timeout;
    unref.mockReturnValue(timer);
    vi.spyOn(globalThis, "setTimeout").mockReturnValueOnce(timer);
    deadlines.set("a", inMs(1000));
    expect(unref).toHaveBeenCalledOnce();
  });
});

test("several deadlines that have passed are all reported", () => {
  deadlines.set("a", inMs(100));
  deadlines.set("b", inMs(200));
  deadlines.set("c", inMs(5000));
  vi.setSystemTime(now + 1000);
  vi.advanceTimersByTime(100);
  expect(passed).toEqual(["a", "b"]);
});

test("when all deadlines were cleared, none passes and no timer stays", () => {
  deadlines.set("a", inMs(1000));
  deadlines.set("b", inMs(1000));
  deadlines.clearAll();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(passed).toEqual([]);
});
