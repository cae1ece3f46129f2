import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Machine } from "../../src/runtime/sandbox-runtime.js";
import { SandboxActivity } from "../../src/sandboxes/sandbox-activity.js";
import type { SandboxRecord } from "../../src/sandboxes/sandbox-record.js";
import { SandboxSleep } from "../../src/sandboxes/sandbox-sleep.js";
import { keepStoppedSeconds, LifecycleRig, newMachine } from "../support/lifecycle-rig.js";

const minute = 60_000;
/** How long a failed save waits for the end of the machine. */
const noticeMs = 500;
const keptUntil = () => new Date(Date.now() + keepStoppedSeconds * 1000);

describe("a sandbox at its deadline", () => {
  let rig: LifecycleRig;
  let sleeps: string[];
  let saves: number;
  beforeEach(() => {
    vi.useFakeTimers();
    rig = new LifecycleRig();
    sleeps = [];
    saves = 0;
    const sleep = new SandboxSleep({
      ...rig,
      agents: undefined as never,
      activity: new SandboxActivity(),
      hasMemory: () => true,
      keepStoppedSeconds,
      onSleep: (reason) => sleeps.push(reason),
      log: (message) => rig.logged.push(message),
    });
    rig.onDeadline = (id) => {
      const sandbox = rig.registry.get(id);
      rig.passed.push(sandbox.status);
      if (sandbox.status === "running") void sleep.atDeadline(sandbox);
    };
  });
  afterEach(() => {
    rig.deadlines.clearAll();
    vi.useRealTimers();
  });

  const refuseSaves = (): void => {
    rig.files.save = async () => {
      saves += 1;
      throw new Error("there are too many files");
    };
  };
  const cannotPause: Partial<Machine> = { pause: () => Promise.reject(new Error("nothing can be frozen")) };
  const reaches = async (
    machine: Partial<Machine> = {},
    onTimeout: "stop" | "pause" = "stop",
  ): Promise<SandboxRecord> => {
    const sandbox = await rig.add("1", { machine: newMachine("1", machine), sleep: { onTimeout } });
    rig.deadlines.set("1", sandbox.expiresAt);
    await vi.advanceTimersByTimeAsync(minute);
    return sandbox;
  };

  test("is stopped", async () => {
    expect(await reaches()).toMatchObject({
      status: "stopped",
      expiresAt: keptUntil(),
      stopReason: "timeout",
    });
    expect(sleeps).toEqual(["timeout"]);
  });

  test("is paused after three attempts to stop it that fail, and its owner reads why", async () => {
    refuseSaves();
    const sandbox = await reaches();
    await vi.advanceTimersByTimeAsync(noticeMs);
    const failureReason = expect.stringMatching(/could not be stopped at its deadline: .*too many files/);
    expect(sandbox).toMatchObject({
      status: "running",
      expiresAt: new Date(Date.now() + minute),
      failureReason,
    });
    await vi.advanceTimersByTimeAsync(minute);
    expect(sandbox.status).toBe("running");
    await vi.advanceTimersByTimeAsync(2 * minute + 2 * noticeMs);
    expect(sandbox).toMatchObject({
      status: "paused",
      expiresAt: keptUntil(),
      failureReason,
      stopReason: "timeout",
    });
    expect({ saves, sleeps }).toEqual({ saves: 3, sleeps: ["timeout"] });
    await rig.lifecycle.resume(sandbox);
    expect(sandbox).toMatchObject({ status: "running", failureReason: undefined });
  });

  test("fails if it can neither be stopped nor paused, when it would have been deleted in its sleep", async () => {
    refuseSaves();
    const destroy = vi.fn(async () => undefined);
    const sandbox = await reaches({ ...cannotPause, destroy });
    await vi.advanceTimersByTimeAsync(keepStoppedSeconds * 1000 - minute);
    expect(sandbox.status).toBe("running");
    await vi.advanceTimersByTimeAsync(60 * minute);
    expect(sandbox).toMatchObject({
      status: "error",
      failureReason: expect.stringMatching(/too many files.* could not be paused either/),
    });
    expect(sandbox.expiresAt.getTime()).toBeGreaterThan(Date.now());
    expect(destroy).toHaveBeenCalledOnce();
    expect(saves).toBeLessThan(10);
    await vi.advanceTimersByTimeAsync(keepStoppedSeconds * 1000);
    expect(rig.passed.at(-1)).toBe("error");
  });

  test("is stopped if it cannot be paused", async () => {
    expect(await reaches(cannotPause, "pause")).toMatchObject({ status: "stopped", stopReason: "timeout" });
  });

  test("keeps the deadline that its owner sets while an attempt fails", async () => {
    const later = new Date(Date.now() + 60 * minute);
    rig.files.save = async () => {
      await rig.registry.change(rig.registry.get("1"), { expiresAt: later });
      throw new Error("there are too many files");
    };
    expect(await reaches()).toMatchObject({ status: "running", expiresAt: later });
  });

  test("is not deleted because its machine leaves something behind", async () => {
    const destroy = () => Promise.reject(new Error("the directory is busy"));
    expect(await reaches({ destroy })).toMatchObject({ status: "stopped", expiresAt: keptUntil() });
  });

  test("passes its deadline again if it is to be deleted since then", async () => {
    refuseSaves();
    const sandbox = await rig.add("1", { machine: newMachine("1"), sleep: { onTimeout: "stop" } });
    const update = rig.lifecycle.between(sandbox, async () => {
      await vi.advanceTimersByTimeAsync(minute);
      await rig.registry.change(sandbox, { sleep: { ...sandbox.sleep, onTimeout: "delete" } });
      rig.onDeadline = () => rig.passed.push("again");
    });
    rig.deadlines.set("1", sandbox.expiresAt);
    await update;
    await vi.advanceTimersByTimeAsync(1);
    expect(rig.passed).toEqual(["running", "again"]);
  });
});
