import { Problem } from "@cloud-sandbox/server-kit";
import { expect, test, vi } from "vitest";
import type { SandboxRecord } from "../../src/sandboxes/sandbox-record.js";
import { SandboxWaker } from "../../src/sandboxes/sandbox-waker.js";

const sandbox = { id: "1700000000abcdefgh" } as SandboxRecord;
const refusal = (text: string) =>
  expect.objectContaining({ status: 503, message: expect.stringContaining(text) });

test("a sandbox is started once for all requests that wait, and for no more than 64", async () => {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  const start = vi.fn(() => promise);
  const waker = new SandboxWaker(start);
  const waiting = Array.from({ length: 64 }, () => waker.wake(sandbox));
  expect(waker.waiting).toBe(64);
  await expect(waker.wake(sandbox)).rejects.toEqual(refusal("64 requests wait"));
  resolve();
  await Promise.all(waiting);
  expect([start.mock.calls.length, waker.waiting]).toEqual([1, 0]);
});

test("a request waits no longer than its limit, and the start goes on", async () => {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  const waker = new SandboxWaker(() => promise, 10);
  await expect(waker.wake(sandbox)).rejects.toEqual(refusal("takes longer"));
  const next = waker.wake(sandbox);
  resolve();
  await next;
});

test("all that wait are told why a start failed, and the next ones for a while without another start", async () => {
  const full = new Problem(429, "RESOURCE_LIMIT_ERROR", "No memory is left.", {
    hint: "Delete a sandbox first.",
  });
  const start = vi.fn(() => Promise.reject(full));
  const waker = new SandboxWaker(start);
  const told = refusal("No memory is left. Delete a sandbox first. Try again in 1 s.");
  await Promise.all([1, 2].map(() => expect(waker.wake(sandbox)).rejects.toEqual(told)));
  await expect(waker.wake(sandbox)).rejects.toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  expect(start).toHaveBeenCalledTimes(1);
});

test("pauses after failed starts double, and a start that succeeds ends them", async () => {
  let fails = true;
  const waker = new SandboxWaker(async () => {
    if (fails) throw new Error("It broke.");
  });
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  try {
    const pauseAfter = async (now: number): Promise<string | undefined> => {
      clock.mockReturnValue(now);
      const error: unknown = await waker.wake(sandbox).catch((refused: unknown) => refused);
      return error instanceof Problem ? error.headers?.["retry-after"] : undefined;
    };
    expect(await pauseAfter(0)).toBe("1");
    expect(await pauseAfter(1000)).toBe("2");
    expect(await pauseAfter(2000)).toBe("1");
    for (let now = 10_000; now < 200_000; now += 40_000) await pauseAfter(now);
    expect(await pauseAfter(300_000)).toBe("30");
    fails = false;
    expect(await pauseAfter(400_000)).toBeUndefined();
    fails = true;
    expect(await pauseAfter(500_000)).toBe("1");
  } finally {
    clock.mockRestore();
  }
});

test("a sandbox that has ended is told as such", async () => {
  const gone = new Problem(404, "SANDBOX_NOT_FOUND", "It was deleted.");
  await expect(new SandboxWaker(() => Promise.reject(gone)).wake(sandbox)).rejects.toBe(gone);
});
