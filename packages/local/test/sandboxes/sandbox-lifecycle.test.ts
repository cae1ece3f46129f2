import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { LifecycleRig, newMachine } from "../support/lifecycle-rig.js";

const saved = { path: "/none", isDisk: false };
const limitReached = expect.objectContaining({
  status: "rejected",
  reason: expect.objectContaining({ status: 429 }),
});

describe("snapshots that are restored at the same time", () => {
  test("start no more stopped sandboxes than there are slots", async () => {
    const rig = new LifecycleRig({ slots: 1 });
    const sandboxes = [await rig.add("1", {}), await rig.add("2", {})];
    const outcomes = await Promise.allSettled(
      sandboxes.map((sandbox) => rig.lifecycle.restore(sandbox, saved, async () => undefined)),
    );
    expect(outcomes).toEqual([{ status: "fulfilled", value: undefined }, limitReached]);
    expect(sandboxes.map(({ status }) => status)).toEqual(["running", "stopped"]);
  });

  test("stop no more running sandboxes than may be stopped", async () => {
    const rig = new LifecycleRig({ stopped: 1 });
    const running = (id: string) => rig.add(id, { machine: newMachine(id) });
    const sandboxes = [await running("1"), await running("2")];
    const outcomes = await Promise.allSettled(
      sandboxes.map((sandbox) => rig.lifecycle.restore(sandbox, saved, async () => undefined)),
    );
    expect(outcomes).toEqual([{ status: "fulfilled", value: undefined }, limitReached]);
    expect(sandboxes.map(({ isStopping, status }) => ({ isStopping, status }))).toEqual([
      { isStopping: false, status: "running" },
      { isStopping: false, status: "running" },
    ]);
    expect(rig.registry.countStopped(undefined)).toBe(0);
  });
});

test("a sandbox whose machine leaves something behind is stopped all the same", async () => {
  const rig = new LifecycleRig();
  const machine = newMachine("1", { destroy: () => Promise.reject(new Error("the directory is busy")) });
  const sandbox = await rig.add("1", { machine });
  await rig.lifecycle.stop(sandbox);
  expect(sandbox.status).toBe("stopped");
  expect(rig.logged).toEqual([expect.stringContaining("the directory is busy")]);
});

test("a machine that cannot be removed while a step of its sandbox goes on is tried again, and ends no server", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  const rig = new LifecycleRig();
  let attempts = 0;
  const destroy = async (): Promise<void> => {
    attempts += 1;
    if (attempts === 1) throw new Error("the directory is busy");
  };
  const sandbox = await rig.add("1", { machine: newMachine("1", { destroy }) });
  const step = rig.lifecycle.between(sandbox, () => sleep(50)).catch(() => undefined);
  await sleep(1);
  await rig.registry.end("1", "deleted");
  await rig.lifecycle.remove(sandbox);
  await step;
  await expect.poll(() => attempts, { timeout: 5000 }).toBeGreaterThan(1);
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});
