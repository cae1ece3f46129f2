import { expect, test } from "vitest";
import { BackgroundWork } from "../../src/agent/background-work.js";
import { afterCleanUp, cleanUp } from "../../src/agent/cleanup.js";
import { clientClosed } from "../../src/errors/errors.js";

const failure = clientClosed();
const trouble = clientClosed();

function working(fails?: unknown) {
  const warnings: unknown[] = [];
  const background = new BackgroundWork((warning) => warnings.push(warning));
  let removed = 0;
  const remove = async (): Promise<void> => {
    removed += 1;
    if (fails !== undefined) throw fails;
  };
  return { background, remove, warnings, count: () => removed };
}

test("a clean-up that succeeds reports nothing", async () => {
  const { background, remove, warnings, count } = working();
  expect(await cleanUp(remove, background)).toBeUndefined();
  expect({ warnings, count: count() }).toEqual({ warnings: [], count: 1 });
});

test("a clean-up that fails gives its error, and a warning", async () => {
  const { background, remove, warnings } = working(trouble);
  expect(await cleanUp(remove, background)).toBe(trouble);
  expect(warnings).toEqual([trouble]);
});

test("a clean-up that fails with a mistake in the program throws it", async () => {
  const bug = new TypeError("no function");
  const { background, remove, warnings } = working(bug);
  await expect(cleanUp(remove, background)).rejects.toBe(bug);
  expect(warnings).toEqual([]);
});

test("the error of a call gets the error of its clean-up, if that fails", async () => {
  const clean = working();
  expect(await afterCleanUp(failure, clean.remove, clean.background)).toBe(failure);
  expect(failure).not.toHaveProperty("cleanupError");
  const { background, remove } = working(trouble);
  expect(await afterCleanUp(failure, remove, background)).toBe(failure);
  expect(failure.cleanupError).toBe(trouble);
});

test("an error that is not of this library is not changed when the clean-up fails", async () => {
  const { background, remove } = working(trouble);
  const bug = new TypeError("no function");
  expect(await afterCleanUp(bug, remove, background)).toBe(bug);
  expect(bug).not.toHaveProperty("cleanupError");
});
