import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { MemoryBudget } from "../../src/sandboxes/memory-budget.js";

/** Limits of a machine that takes this part of all memory. */
const part = (budget: MemoryBudget, share: number) => ({
  ...{ memoryMb: Math.floor(budget.totalMb * share), diskMb: 0, vcpu: 1, maxProcesses: 1 },
});

test("several sandboxes find room where one warm machine is being ended", async () => {
  const budget = new MemoryBudget({ overcommit: 1, disks: 1 });
  const spares = [await budget.reserve(part(budget, 0.9))];
  budget.onShortage(() => {
    const release = spares.pop();
    return release && sleep(10).then(release);
  });
  const two = [1, 2].map(() => budget.reserve(part(budget, 0.3)));
  await expect(Promise.all(two)).resolves.toHaveLength(2);
  await expect(budget.reserve(part(budget, 0.5))).rejects.toMatchObject({ status: 429 });
});

test("a sandbox is refused when the end of all warm machines makes too little room", async () => {
  const budget = new MemoryBudget({ overcommit: 1, disks: 1 });
  await budget.reserve(part(budget, 0.5));
  const spares = [await budget.reserve(part(budget, 0.2)), await budget.reserve(part(budget, 0.2))];
  budget.onShortage(() => {
    const release = spares.pop();
    return release && sleep(10).then(release);
  });
  const [first, second] = await Promise.allSettled([
    budget.reserve(part(budget, 0.4)),
    budget.reserve(part(budget, 0.4)),
  ]);
  expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);
});
