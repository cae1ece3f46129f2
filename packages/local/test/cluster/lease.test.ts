import { ApiException, type CoordinationV1Api, type V1Lease } from "@kubernetes/client-node";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Lease } from "../../src/cluster/lease.js";

/** An API server's Lease: a write of an old version is refused, as by a real one. */
class Leases {
  lease: V1Lease | undefined;
  #version = 0;

  /** What a server sees of it. `isAway` says when the API server does not answer it. */
  for(isAway: () => boolean = () => false): CoordinationV1Api {
    const answer = async (write?: () => void): Promise<V1Lease> => {
      if (isAway()) throw new Error("no route");
      write?.();
      if (!this.lease) throw new ApiException(404, "", undefined, {});
      return structuredClone(this.lease);
    };
    const put = (body: V1Lease): void => {
      if (body.metadata?.resourceVersion !== this.lease?.metadata?.resourceVersion)
        throw new ApiException(409, "", undefined, {});
      this.#version += 1;
      this.lease = structuredClone({
        ...body,
        metadata: { ...body.metadata, resourceVersion: `${this.#version}` },
      });
    };
    const api = {
      readNamespacedLease: () => answer(),
      createNamespacedLease: ({ body }: { body: V1Lease }) => answer(() => put(body)),
      replaceNamespacedLease: ({ body }: { body: V1Lease }) => answer(() => put(body)),
    };
    return api as unknown as CoordinationV1Api;
  }
}

let leases: Leases;
let opened: Lease[];
const open = async (identity: string, isAway?: () => boolean): Promise<Lease> => {
  const cluster = { coordination: leases.for(isAway), core: undefined as never, namespace: "default" };
  const lease = new Lease(cluster, identity, () => undefined);
  opened.push(lease);
  await lease.open();
  return lease;
};
const held = (): boolean[] => opened.map(({ isHeld }) => isHeld);
const seconds = (count: number): Promise<unknown> => vi.advanceTimersByTimeAsync(count * 1000);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  leases = new Leases();
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((lease) => lease.close()));
  vi.useRealTimers();
});

describe("of several servers", () => {
  test("one leads, as long as it renews its Lease, and tells the others where", async () => {
    await Promise.all(["a", "b", "c"].map((identity) => open(identity)));
    for (let count = 0; count < 30; count += 1) {
      expect(held().filter(Boolean)).toHaveLength(1);
      await seconds(1);
    }
    const leader = opened.find(({ isHeld }) => isHeld);
    await leader?.announce("10.0.0.1:81");
    await seconds(2);
    expect(opened.map(({ address }) => address)).toEqual(Array(3).fill("10.0.0.1:81"));
  });

  test("another one leads at once when the one that leads gives its Lease back", async () => {
    const first = await open("a");
    await first.announce("10.0.0.1:81");
    const second = await open("b");
    expect(held()).toEqual([true, false]);
    await first.release();
    expect(second.isHeld).toBe(false);
    await seconds(1);
    expect([held(), second.address]).toEqual([[false, true], undefined]);
  });

  test("a leader that is cut off stops to count on its Lease before another one leads", async () => {
    let isAway = false;
    await open("a", () => isAway);
    const second = await open("b");
    await seconds(3);
    isAway = true;
    let tokenOwners = 1;
    const together = await (async () => {
      for (let passed = 0; !second.isHeld && passed < 60; passed += 1) {
        tokenOwners = Math.max(tokenOwners, held().filter(Boolean).length);
        await seconds(1);
      }
      return tokenOwners;
    })();
    expect([together, held()]).toEqual([1, [false, true]]);
    const term = opened[0]?.term;
    expect(term?.over.aborted).toBe(false);
    isAway = false;
    await seconds(3);
    expect([term?.over.aborted, held()]).toEqual([true, [false, true]]);
  });

  test("one that leads again has begun another term, because it does not know what was changed meanwhile", async () => {
    let isAway = false;
    const first = await open("a", () => isAway);
    const { term } = first;
    const second = await open("b");
    isAway = true;
    await seconds(20);
    isAway = false;
    await seconds(3);
    await second.release();
    await seconds(1);
    expect(held()).toEqual([true, false]);
    expect([term?.isHeld, term?.over.aborted]).toEqual([false, true]);
    expect([first.term?.isHeld, first.term?.over.aborted]).toEqual([true, false]);
  });

  test("the same one leads after the API server was away for all of them", async () => {
    let isAway = false;
    for (const identity of ["a", "b"]) await open(identity, () => isAway);
    isAway = true;
    await seconds(60);
    expect(held()).toEqual([false, false]);
    isAway = false;
    await seconds(3);
    expect(held()).toEqual([true, false]);
  });

  test("none takes the Lease of one whose clock differs by a day", async () => {
    const first = await open("a");
    for (let count = 0; count < 20; count += 1) {
      const spec = leases.lease?.spec;
      if (spec?.renewTime) spec.renewTime = new Date(0) as never;
      if (count === 1) await open("b");
      await seconds(1);
    }
    expect([first.isHeld, held()]).toEqual([true, [true, false]]);
  });

  test("a leader does not count on its Lease after a pause of the whole process, or of the machine", async () => {
    const first = await open("a");
    vi.setSystemTime(Date.now() + 11_000);
    expect(first.isHeld).toBe(false);
    await seconds(3);
    expect(first.isHeld).toBe(true);
  });
});
