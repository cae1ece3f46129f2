import { expect, test, vi } from "vitest";
import { ProgramQueue } from "../../src/sandboxes/program-queue.js";

const patience = () => new AbortController().signal;

test("as many programs run as there are places, and the next one follows in order", async () => {
  const queue = new ProgramQueue(2);
  const leaves = [await queue.enter(patience()), await queue.enter(patience())];
  const order: string[] = [];
  const third = queue.enter(patience()).then((leave) => {
    order.push("third");
    return leave;
  });
  const fourth = queue.enter(patience()).then(() => order.push("fourth"));
  leaves[0]?.();
  leaves[0]?.();
  const leave = await third;
  expect(order).toEqual(["third"]);
  leave();
  await fourth;
});

test("a program that takes long gives up its place", async () => {
  vi.useFakeTimers();
  try {
    const queue = new ProgramQueue(1);
    const leave = await queue.enter(patience());
    const next = queue.enter(patience());
    await vi.advanceTimersByTimeAsync(1000);
    (await next)();
    leave();
    (await queue.enter(patience()))();
  } finally {
    vi.useRealTimers();
  }
});

test("a caller that goes away leaves the queue; a caller too many is told when to try again", async () => {
  const queue = new ProgramQueue(1);
  const leave = await queue.enter(patience());
  const gone = new AbortController();
  const waiting = queue.enter(gone.signal);
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  const others = Array.from({ length: 1024 }, () => queue.enter(patience()));
  await expect(queue.enter(patience())).rejects.toMatchObject({
    status: 429,
    headers: { "retry-after": "1" },
  });
  leave();
  for (const other of others) (await other)();
});
