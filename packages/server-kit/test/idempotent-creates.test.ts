import { expect, test, vi } from "vitest";
import { IdempotentCreates } from "../src/handlers/index.js";

test("a create that fails after its key was forgotten does not forget the next one of that key", async () => {
  const creates = new IdempotentCreates<string>(
    () => true,
    (request) => request,
  );
  let fail = (): void => undefined;
  const slow = creates.run(
    "a",
    {},
    () => new Promise((_, reject) => (fail = () => reject(new Error("late")))),
  );
  for (let count = 0; count < 10_000; count += 1)
    await creates.run(`other ${count}`, {}, async () => "other");
  expect(await creates.run("a", {}, async () => "second")).toBe("second");
  fail();
  await expect(slow).rejects.toThrow("late");
  const again = vi.fn(async () => "third");
  expect(await creates.run("a", {}, again)).toBe("second");
  expect(again).not.toHaveBeenCalled();
});
