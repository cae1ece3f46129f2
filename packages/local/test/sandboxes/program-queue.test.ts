import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MemoryBudget } from "../../src/sandboxes/memory-budget.js";
import { ProgramQueue } from "../../src/sandboxes/program-queue.js";
import { ProgramRoom } from "../../src/sandboxes/program-room.js";
import { SandboxPlaces } from "../../src/sandboxes/sandbox-places.js";

const limits = { memoryMb: 1, diskMb: 1, vcpu: 1, maxProcesses: 1 };
const patience = () => new AbortController().signal;

/** A queue with a number of turns, on a server with a number of places for sandboxes. */
function rig(turns: number, most = 1000, limitOfKey?: number) {
  const places = new SandboxPlaces(most, { existing: () => 0, failed: () => 0 }, () => limitOfKey);
  const budget = new MemoryBudget({ overcommit: 1, disks: 1 });
  const queue = new ProgramQueue(turns, new ProgramRoom(places, budget, () => isShared));
  const enter = async (signal = patience(), wanted = limits, keyId?: string) => {
    const { room, leave } = await queue.enter(wanted, signal, keyId);
    return { room, leave, end: () => [leave(), room.release()] };
  };
  return { places, budget, enter };
}

let isShared: boolean;

beforeEach(() => {
  isShared = false;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("as many programs start as there are turns, and the next one follows in order", async () => {
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

test("a program waits for the place of a sandbox, and is refused after half a minute without room", async () => {
  const { places, enter } = rig(2, 1);
  const leave = places.hold();
  const waiting = enter();
  await vi.advanceTimersByTimeAsync(20_000);
  leave();
  const { end } = await waiting;
  expect(() => places.requireRoom()).toThrow(/at most 1 sandboxes/);
  const refusal = { status: 429, headers: { "retry-after": "10" } };
  const refused = [enter(), enter()].map((program) => expect(program).rejects.toMatchObject(refusal));
  await vi.advanceTimersByTimeAsync(30_000);
  await Promise.all(refused);
  end();
  (await enter()).end();
});

test("programs leave a quarter of places and memory to sandboxes", async () => {
  const { places, budget, enter } = rig(10, 4);
  const programs = await Promise.all([enter(), enter(), enter()]);
  const fourth = enter();
  await vi.advanceTimersByTimeAsync(0);
  expect(places.hasRoom).toBe(true);
  for (const { end } of programs) end();
  (await fourth).end();

  const large = { ...limits, memoryMb: Math.floor(budget.totalMb * 0.5) };
  const first = await enter(patience(), large);
  const second = enter(patience(), large);
  await vi.advanceTimersByTimeAsync(0);
  expect(budget.hasRoom({ ...large, diskMb: 0 })).toBe(true);
  first.end();
  (await second).end();
});

test("a program that will never find room does not wait", async () => {
  const { budget, enter } = rig(1);
  const tooLarge = { ...limits, memoryMb: budget.totalMb + 1 };
  await expect(enter(patience(), tooLarge)).rejects.toMatchObject({ status: 400 });
});

test("a sandbox that is made for a program takes the program's room", async () => {
  const { places, enter } = rig(2, 1);
  const { room, end } = await enter();
  const next = enter();
  room.handOver();
  places.requireRoom();
  const leave = places.hold();
  await vi.advanceTimersByTimeAsync(1000);
  expect(places.hasRoom).toBe(false);
  leave();
  end();
  (await next).end();
});

test("no other program takes the room that one hands over before the sandbox does", async () => {
  const { budget, enter } = rig(2);
  const part = (share: number) => ({ ...limits, memoryMb: Math.floor(budget.totalMb * share) });
  await budget.reserve(part(0.6));
  const { room, end } = await enter(patience(), part(0.25));
  const waiting = enter(patience(), part(0.25));
  room.handOver();
  await Promise.resolve();
  const release = await budget.reserve(part(0.25));
  release();
  (await waiting).end();
  end();
});

test("a program whose sandbox is gone lets the next one in when it is over", async () => {
  const { places, enter } = rig(2, 1);
  const { room, leave } = await enter();
  const next = enter();
  room.handOver();
  const remove = places.hold();
  remove();
  await Promise.resolve();
  leave();
  room.release();
  (await next).end();
});

test("API keys take turns, so that a burst of one does not delay the others", async () => {
  const { enter } = rig(1);
  const order: string[] = [];
  const run = async (keyId: string | undefined, name: string): Promise<void> => {
    const { end } = await enter(patience(), limits, keyId);
    order.push(name);
    end();
  };
  const ends = [await enter(patience(), limits, "key_a"), await enter(patience(), limits, "key_b")];
  const burst = Array.from({ length: 1024 }, (_, index) => run("key_a", `a${index}`));
  const others = [run("key_b", "b0"), run("key_b", "b1"), run(undefined, "own")];
  await expect(enter(patience(), limits, "key_a")).rejects.toMatchObject({ status: 429 });
  for (const { end } of ends) end();
  await Promise.all([...burst, ...others]);
  expect(order.slice(0, 7)).toEqual(["a0", "b0", "own", "a1", "b1", "a2", "a3"]);
  expect(order).toHaveLength(1027);
});

test("a key none of whose programs is being started waits for no other, up to twice the turns", async () => {
  const { enter } = rig(2);
  const entered: string[] = [];
  const run = async (keyId: string) => {
    const program = await enter(patience(), limits, keyId);
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
  const { places, enter } = rig(10, 1000, 1);
  const first = await enter(patience(), limits, "key_a");
  const second = expect(enter(patience(), limits, "key_a")).rejects.toMatchObject({ status: 429 });
  expect(() => places.requireRoom("key_a")).toThrow(/key may have at most 1/);
  (await enter(patience(), limits, "key_b")).end();
  (await enter()).end();
  await vi.advanceTimersByTimeAsync(30_000);
  await second;
  const third = enter(patience(), limits, "key_a");
  first.end();
  (await third).end();
});

test("where there are several keys, long programs of one leave room for the others", async () => {
  isShared = true;
  const { enter } = rig(100, 16);
  const burst = Array.from({ length: 12 }, () => enter(patience(), limits, "key_a"));
  const own = Array.from({ length: 3 }, () => enter());
  for (const program of await Promise.all(own)) program.end();
  const running = await Promise.all(burst.slice(0, 9));
  isShared = false;
  for (const { end } of running) end();
  for (const program of burst.slice(9)) (await program).end();
});
