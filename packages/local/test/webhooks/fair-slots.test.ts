import { expect, test } from "vitest";
import { FairSlots } from "../../src/addresses/fair-slots.js";

test("work of one party that never ends leaves half of the slots to others", async () => {
  const slots = new FairSlots(4);
  const begun: string[] = [];
  const forever = (party: string) =>
    slots.run(party, () => {
      begun.push(party);
      return new Promise<never>(() => undefined);
    });
  for (let count = 0; count < 10; count += 1) forever("slow").catch(() => undefined);
  await slots.run("other", async () => begun.push("other"));
  expect(begun).toEqual(["slow", "slow", "other"]);
});

test("a slot that becomes free goes to the party that has the fewest", async () => {
  const slots = new FairSlots(4);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (party: string) =>
    slots.run(party, () => {
      begun.push(party);
      return new Promise<void>((end) => ends.push(end));
    });
  const all = [..."aabbb", ..."c"].map(work);
  await expect.poll(() => begun.join("")).toBe("aabb");
  ends[0]?.();
  await expect.poll(() => begun.join("")).toBe("aabbc");
  ends[1]?.();
  ends[2]?.();
  await expect.poll(() => begun.join("")).toBe("aabbcb");
  for (const end of ends) end();
  await expect.poll(() => ends.length).toBe(6);
  for (const end of ends) end();
  await Promise.all(all);
});

test("work that fails gives its slot back", async () => {
  const slots = new FairSlots(1);
  await expect(slots.run("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await slots.run("b", async () => "done")).toBe("done");
});
