import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MemoryBudget } from "../../src/sandboxes/memory-budget.js";
import { ProgramCapacity, ProgramQueue } from "../../src/sandboxes/program-queue.js";
import { SandboxSlots } from "../../src/sandboxes/sandbox-slots.js";

const limits = { memoryMb: 1, diskMb: 1, vcpu: 1, maxProcesses: 1 };
const noLimit = () => new AbortController().signal;

/** A queue that starts this many programs at a time, on a server with a number of slots for sandboxes. */
function rig(concurrency: number, most = 1000, limitOfKey?: number) {
  const slots = new SandboxSlots(
    most,
    { existing: () => 0, failed: () => 0, stopped: () => 0 },
    () => limitOfKey,
  );
  const budget = new MemoryBudget({ overcommit: 1, disks: 1 });
  const queue = new ProgramQueue(concurrency, new ProgramCapacity(slots, budget, () => isShared));
  const enter = async (signal = noLimit(), wanted = limits, keyId?: string) => {
    const { capacity, leave } = await queue.enter(wanted, signal, keyId);
    return { capacity, leave, end: () => [leave(), capacity.release()] };
  };
  return { slots, budget, enter };
}

let isShared: boolean;

beforeEach(() => {
  isShared = false;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("as many programs are started at a time as the concurrency says, and the next one follows in order", async () => {
  const { enter } = rig(2);
  const programs = [await enter(), await enter()];
  const order: string[] = [];
  const third = enter().then((program) => {
    order.push("third");
    return program;
  });
  const fourth = enter().then(() => order.push("fourth"));
  programs[0]?.end();
  programs[0]?.end();
  const { end } = await third;
  expect(order).toEqual(["third"]);
  end();
  await fourth;
});

test("a program that takes long gives up its turn", async () => {
  const { enter } = rig(1);
  const { end } = await enter();
  const next = enter();
  await vi.advanceTimersByTimeAsync(1000);
  (await next).end();
  end();
  (await enter()).end();
});

test("a caller that goes away leaves the queue; a caller too many is told when to try again", async () => {
  const { enter } = rig(1);
  const { end } = await enter();
  const gone = new AbortController();
  const waiting = enter(gone.signal);
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  const others = Array.from({ length: 1024 }, () => enter());
  await expect(enter()).rejects.toMatchObject({ status: 429, headers: { "retry-after": "1" } });
  end();
  for (const other of others) (await other).end();
});

test("a program waits for the slot of a sandbox, and is refused after half a minute without room", async () => {
  const { slots, enter } = rig(2, 1);
  const leave = slots.hold();
  const waiting = enter();
  await vi.advanceTimersByTimeAsync(20_000);
  leave();
  const { end } = await waiting;
  expect(() => slots.requireSlot()).toThrow(/at most 1 sandboxes/);
  const refusal = { status: 429, headers: { "retry-after": "10" } };
  const refused = [enter(), enter()].map((program) => expect(program).rejects.toMatchObject(refusal));
  await vi.advanceTimersByTimeAsync(30_000);
  await Promise.all(refused);
  end();
  (await enter()).end();
});

test("programs leave a quarter of slots and memory to sandboxes", async () => {
  const { slots, budget, enter } = rig(10, 4);
  const programs = await Promise.all([enter(), enter(), enter()]);
  const fourth = enter();
  await vi.advanceTimersByTimeAsync(0);
  expect(slots.hasFreeSlot).toBe(true);
  for (const { end } of programs) end();
  (await fourth).end();

  const large = { ...limits, memoryMb: Math.floor(budget.totalMb * 0.5) };
  const first = await enter(noLimit(), large);
  const second = enter(noLimit(), large);
  await vi.advanceTimersByTimeAsync(0);
  expect(budget.hasRoom({ ...large, diskMb: 0 })).toBe(true);
  first.end();
  (await second).end();
});

test("a program that will never find room does not wait", async () => {
  const { budget, enter } = rig(1);
  const tooLarge = { ...limits, memoryMb: budget.totalMb + 1 };
  await expect(enter(noLimit(), tooLarge)).rejects.toMatchObject({ status: 400 });
});

test("a sandbox that is made for a program takes the program's room", async () => {
  const { slots, enter } = rig(2, 1);
  const { capacity, end } = await enter();
  const next = enter();
  capacity.transfer();
  slots.requireSlot();
  const leave = slots.hold();
  await vi.advanceTimersByTimeAsync(1000);
  expect(slots.hasFreeSlot).toBe(false);
  leave();
  end();
  (await next).end();
});

test("no other program takes the room that one hands over before the sandbox does", async () => {
  const { budget, enter } = rig(2);
  const part = (share: number) => ({ ...limits, memoryMb: Math.floor(budget.totalMb * share) });
  await budget.reserve(part(0.6));
  const { capacity, end } = await enter(noLimit(), part(0.25));
  const waiting = enter(noLimit(), part(0.25));
  capacity.transfer();
  await Promise.resolve();
  const release = await budget.reserve(part(0.25));
  release();
  (await waiting).end();
  end();
});

test("a program whose sandbox is gone lets the next one in when it is over", async () => {
  const { slots, enter } = rig(2, 1);
  const { capacity, leave } = await enter();
  const next = enter();
  capacity.transfer();
  const remove = slots.hold();
  remove();
  await Promise.resolve();
  leave();
  capacity.release();
  (await next).end();
});

test("API keys are served one after the other, so that a burst of one does not delay the others", async () => {
  const { enter } = rig(1);
  const order: string[] = [];
  const run = async (keyId: string | undefined, name: string): Promise<void> => {
    const { end } = await enter(noLimit(), limits, keyId);
    order.push(name);
    end();
  };
  const ends = [await enter(noLimit(), limits, "key_a"), await enter(noLimit(), limits, "key_b")];
  const burst = Array.from({ length: 1024 }, (_, index) => run("key_a", `a${index}`));
  const others = [run("key_b", "b0"), run("key_b", "b1"), run(undefined, "own")];
  await expect(enter(noLimit(), limits, "key_a")).rejects.toMatchObject({ status: 429 });
  for (const { end } of ends) end();
  await Promise.all([...burst, ...others]);
  expect(order.slice(0, 7)).toEqual(["a0", "b0", "own", "a1", "b1", "a2", "a3"]);
  expect(order).toHaveLength(1027);
});

test("a key none of whose programs is being started waits for no other, up to twice the concurrency", async () => {
  const { enter } = rig(2);
  const entered: string[] = [];
  const run = async (keyId: string) => {
    const program = await enter(noLimit(), limits, keyId);
    entered.push(keyId);
    return program;
  };
  const first = await run("key_a");
  for (const keyId of ["key_a", "key_b", "key_c"]) await run(keyId);
  const waiting = [run("key_b"), run("key_d")];
  await vi.advanceTimersByTimeAsync(0);
  expect(entered).toEqual(["key_a", "key_a", "key_b", "key_c"]);
  first.end();
  await vi.advanceTimersByTimeAsync(0);
  expect(entered.slice(4)).toEqual(["key_d"]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(entered.slice(5)).toEqual(["key_b"]);
  await Promise.all(waiting);
});

test("a key at its limit waits, is refused after half a minute, and delays no other key", async () => {
  const { slots, enter } = rig(10, 1000, 1);
  const first = await enter(noLimit(), limits, "key_a");
  const second = expect(enter(noLimit(), limits, "key_a")).rejects.toMatchObject({ status: 429 });
  expect(() => slots.requireSlot("key_a")).toThrow(/key may have at most 1/);
  (await enter(noLimit(), limits, "key_b")).end();
  (await enter()).end();
  await vi.advanceTimersByTimeAsync(30_000);
  await second;
  const third = enter(noLimit(), limits, "key_a");
  first.end();
  (await third).end();
});

test("where there are several keys, long programs of one leave room for the others", async () => {
  isShared = true;
  const { enter } = rig(100, 16);
  const burst = Array.from({ length: 12 }, () => enter(noLimit(), limits, "key_a"));
  const own = Array.from({ length: 3 }, () => enter());
  for (const program of await Promise.all(own)) program.end();
  const running = await Promise.all(burst.slice(0, 9));
  isShared = false;
  for (const { end } of running) end();
  for (const program of burst.slice(9)) (await program).end();
});
