import { expect, it } from "vitest";
import { Progress } from "../../src/server/registered-tool.js";

it("progress counts upwards, repeats its last step while nothing changes, and stops at the end", async () => {
  const told: [number, string][] = [];
  const progress = new Progress((count, message) => told.push([count, message]), 10);
  await expect.poll(() => told.length).toBeGreaterThan(0);
  progress.report("Creating a sandbox");
  const reported = told.length;
  await expect.poll(() => told.length).toBeGreaterThan(reported + 1);
  progress.end();
  expect(told.map(([count]) => count)).toEqual(told.map((_, index) => index + 1));
  expect(told[0]?.[1]).toMatch(/^Working \(\d+ s since the call\)$/);
  expect(told[reported - 1]?.[1]).toBe("Creating a sandbox");
  expect(told[reported]?.[1]).toMatch(/^Creating a sandbox \(\d+ s since the call\)$/);
  const all = told.length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(told).toHaveLength(all);
});
