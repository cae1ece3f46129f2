import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { OwnedSandboxes } from "../../src/sandbox/owned-sandboxes.js";
import { beforeTermination } from "../../src/transport/calls/termination-watch.js";

vi.mock("../../src/transport/calls/termination-watch.js", { spy: true });

// Remove the object that watches for signals: all copies of the package in a process share it, and other test files
// have used it.
const sharedWatch = Symbol.for("cloud-sandbox.termination-watch.1");
const shared = Object.getOwnPropertyDescriptor(globalThis, sharedWatch);
beforeAll(() => void Reflect.deleteProperty(globalThis, sharedWatch));
afterAll(() => {
  if (shared !== undefined) Object.defineProperty(globalThis, sharedWatch, shared);
});

let left: OwnedSandboxes[] = [];
afterEach(async () => {
  for (const owned of left) for (const id of [...ids, "late"]) owned.forget(id);
  left = [];
});

const ids = ["a", "b", "c"];
const listeners = (): number => process.listenerCount("SIGTERM");

/** An `OwnedSandboxes`, and the ids that it has deleted. */
function owning(deleteOne?: (id: string) => Promise<void>) {
  const deleted: string[] = [];
  const owned = new OwnedSandboxes(async (id) => {
    deleted.push(id);
    await deleteOne?.(id);
  });
  left.push(owned);
  return { owned, deleted };
}

async function made(owned: OwnedSandboxes, ...created: string[]): Promise<void> {
  for (const id of created) owned.expect(Promise.resolve(id));
  await new Promise((resolve) => setImmediate(resolve));
}

describe("a sandbox that a client owns", () => {
  test("is deleted only once", async () => {
    const { owned, deleted } = owning();
    await made(owned, "a", "b", "b");
    expect(await owned.deleteAll()).toEqual([]);
    expect(deleted).toEqual(["a", "b"]);
  });

  test("is not deleted when the client has given it up", async () => {
    const { owned, deleted } = owning();
    await made(owned, "a", "b");
    owned.forget("a");
    await owned.deleteAll();
    expect(deleted).toEqual(["b"]);
  });

  test("counts while it is being created, and not if its creation fails", async () => {
    const { owned, deleted } = owning();
    let create: (id: string) => void = () => undefined;
    let fail: (error: Error) => void = () => undefined;
    owned.expect(new Promise((resolve) => (create = resolve)));
    owned.expect(new Promise((_, reject) => (fail = reject)));
    const ended = owned.deleteAll();
    create("late");
    fail(new Error("no room"));
    expect(await ended).toEqual([]);
    expect(deleted).toEqual(["late"]);
  });

  test("that could not be deleted is reported, and the others are deleted", async () => {
    const lost = new Error("no network");
    const { owned, deleted } = owning(async (id) => {
      if (id === "a") throw lost;
    });
    await made(owned, "a", "b");
    expect(await owned.deleteAll()).toEqual([lost]);
    expect(deleted).toEqual(["a", "b"]);
  });

  test("makes the process watch for signals, and only as long as there is one", async () => {
    const before = listeners();
    const { owned } = owning();
    expect(listeners()).toBe(before);
    await made(owned, "a");
    expect(listeners()).toBe(before + 1);
    await made(owned, "b");
    owned.forget("a");
    expect(listeners()).toBe(before + 1);
    owned.forget("b");
    expect(listeners()).toBe(before);
    await made(owned, "c");
    expect(listeners()).toBe(before + 1);
    owned.forget("c");
    expect(listeners()).toBe(before);
  });

  test("makes the process watch for signals when its creation begins, and no longer when that fails", async () => {
    const before = listeners();
    const { owned } = owning();
    let fail: (error: Error) => void = () => undefined;
    owned.expect(new Promise((_, reject) => (fail = reject)));
    expect(listeners()).toBe(before + 1);
    fail(new Error("no room"));
    await vi.waitFor(() => expect(listeners()).toBe(before));
  });

  test("is deleted before a signal ends the process", async () => {
    const { owned, deleted } = owning();
    await made(owned, "a");
    await vi.mocked(beforeTermination).mock.lastCall?.[0]();
    expect(deleted).toEqual(["a"]);
  });

  test("is forgotten, the oldest first, when there are more than ten thousand", async () => {
    const { owned, deleted } = owning();
    await made(owned, ...Array.from({ length: 10_001 }, (_, index) => `s${index}`));
    await owned.deleteAll();
    expect(deleted).toHaveLength(10_000);
    expect(deleted).not.toContain("s0");
    expect(deleted).toContain("s10000");
    for (const id of deleted) owned.forget(id);
  });
});
