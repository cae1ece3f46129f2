import { expect, test, vi } from "vitest";
import { SandboxActivity } from "../../src/sandboxes/sandbox-activity.js";

test("a use lasts from its beginning to its end, and several to the end of the last", () => {
  vi.useFakeTimers({ now: 1000 });
  try {
    const activity = new SandboxActivity();
    const sandbox = {};
    expect(activity.last(sandbox)).toBe(0);
    const [end, other] = [activity.begin(sandbox), activity.begin(sandbox)];
    vi.setSystemTime(2000);
    end();
    end();
    vi.setSystemTime(3000);
    expect(activity.last(sandbox)).toBe(3000);
    other();
    vi.setSystemTime(4000);
    expect(activity.last(sandbox)).toBe(3000);
    activity.note(sandbox, 2500);
    expect(activity.last(sandbox)).toBe(3000);
    activity.note(sandbox);
    expect(activity.last(sandbox)).toBe(4000);
  } finally {
    vi.useRealTimers();
  }
});
