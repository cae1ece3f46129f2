import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { countdown } from "../../src/runtime/container/channel/countdown.js";

test("a countdown takes a time in which its process stood still for one second", async () => {
  let isOver = false;
  countdown(2200, () => {
    isOver = true;
  });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
  // The timers that are due fire in the first turns.
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  expect(isOver).toBe(false);
  await expect.poll(() => isOver).toBe(true);
});

test("a countdown that was stopped never ends, and one that does not count stands still", async () => {
  let isCounting = false;
  const ended: string[] = [];
  const stop = countdown(20, () => ended.push("stopped"));
  stop();
  countdown(
    20,
    () => ended.push("counted"),
    () => isCounting,
  );
  await new Promise<void>((resolve) => void countdown(100, resolve));
  expect(ended).toEqual([]);
  isCounting = true;
  await expect.poll(() => ended).toEqual(["counted"]);
});
