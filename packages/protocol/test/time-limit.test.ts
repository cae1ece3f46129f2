import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { timeLimit } from "../src/time-limit.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("a limit passes also when garbage was collected, and nothing else refers to it", async () => {
  const { signal } = new AbortController();
  const ended: unknown[] = [];
  for (let count = 0; count < 20; count += 1) {
    const limited = timeLimit(300, signal);
    limited.addEventListener("abort", () => ended.push(limited.reason));
  }
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await expect.poll(() => ended).toHaveLength(20);
  expect(ended[0]).toMatchObject({ name: "TimeoutError" });
});

test("a limit ends with the signal, and for its reason", () => {
  const caller = new AbortController();
  const limited = timeLimit(60_000, caller.signal);
  caller.abort("the caller left");
  expect(limited.reason).toBe("the caller left");
});
