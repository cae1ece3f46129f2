import { describe, expect, it } from "vitest";
import { Activity } from "../../src/sandboxes/machine-supply.js";

/** Longer than any test may take, so that only what happens to the requests can be the reason for idleness. */
const longMs = 10 * 60_000;

describe("Activity", () => {
  it("is idle when the last request has ended", async () => {
    const activity = new Activity();
    const ends = [activity.begin(), activity.begin()];
    const told: string[] = [];
    const idle = activity.idle(longMs).then(() => told.push("idle"));
    ends[0]?.();
    // The end of a request counts once.
    ends[0]?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual([]);
    ends[1]?.();
    await idle;
  });

  it("counts a stream that goes on for its beginning only", async () => {
    const activity = new Activity();
    const end = activity.begin(20);
    await activity.idle(longMs);
    const endNext = activity.begin();
    end();
    const told: string[] = [];
    const idle = activity.idle(longMs).then(() => told.push("idle"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual([]);
    endNext();
    await idle;
  });
});
