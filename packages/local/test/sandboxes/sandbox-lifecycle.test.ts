import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { MachineExit } from "../../src/runtime/sandbox-runtime.js";
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
});

describe("a sandbox whose new machine does not start goes on", () => {
  test("with the machine that it has", async () => {
    const rig = new LifecycleRig();
    const ended: string[] = [];
    const machine = newMachine("1", { destroy: async () => void ended.push("former") });
    const sandbox = await rig.add("1", { machine });
    const started = newMachine("1", { destroy: async () => void ended.push("new") });
    rig.boot = async () => started;
    const restore = rig.lifecycle.restore(sandbox, saved, async () => {
      expect(sandbox).toMatchObject({ status: "running", machine, isStopping: false });
      throw new Error("its agent did not answer");
    });
    await expect(restore).rejects.toThrow(
      "Sandbox 1 could not be started: its agent did not answer. The sandbox is as it was. Try again.",
    );
    expect(ended).toEqual(["new"]);
    expect(sandbox).toMatchObject({ status: "running", machine });
    await rig.lifecycle.restore(sandbox, saved, async () => undefined);
    expect(ended).toEqual(["new", "former"]);
    expect(sandbox).toMatchObject({ status: "running", machine: started, restores: 1 });
  });

  test("with the files that it was stopped with", async () => {
    const rig = new LifecycleRig();
    const removed: string[] = [];
    rig.files.remove = async (id: string) => void removed.push(id);
    const sandbox = await rig.add("1", {});
    rig.boot = () => Promise.reject(new Error("no"));
    await expect(rig.lifecycle.restore(sandbox, saved, async () => undefined)).rejects.toThrow(
      "still stopped",
    );
    expect(sandbox).toMatchObject({ status: "stopped", machine: undefined });
    expect(removed).toEqual([]);
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

test("a sandbox whose machine ends while its files are saved has failed, and says why", async () => {
  const rig = new LifecycleRig();
  let end = (_: MachineExit): void => undefined;
  const exited = new Promise<MachineExit>((resolve) => {
    end = resolve;
  });
  const machine = newMachine("1", { exited });
  const sandbox = await rig.add("1", { machine });
  rig.lifecycle.watch(sandbox, machine);
  const breakOff = async (): Promise<never> => {
    setTimeout(() => end({ reason: "exited", message: "Its container ended." }), 50);
    throw new Error("aborted");
  };
  Object.assign(rig.files, { save: breakOff, write: breakOff });
  const steps = await Promise.allSettled([
    rig.lifecycle.saveAs(sandbox, "/none"),
    rig.lifecycle.stop(sandbox),
  ]);
  const failed = { status: 410, code: "SANDBOX_FAILED", message: expect.stringContaining("container ended") };
  for (const step of steps)
    expect(step).toMatchObject({ status: "rejected", reason: expect.objectContaining(failed) });
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
