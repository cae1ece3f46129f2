import { expect, test } from "vitest";
import { SandboxSlots } from "../../src/sandboxes/sandbox-slots.js";

/** The slots of a server with the limit 3 and a key with the limit 2, which has all sandboxes. */
const slots = (running: number, failed: number) =>
  new SandboxSlots(
    3,
    { existing: () => running + failed, failed: () => failed, stopped: () => 4 },
    () => 2,
    4,
  );

test.each([
  ["that run count", 3, 0, false],
  ["that have failed do not", 2, 3, true],
  ["that have failed count as far as there are more of them than the limit", 2, 4, false],
])("sandboxes %s", (_, running, failed, hasFreeSlot) => {
  expect(slots(running, failed).hasFreeSlot).toBe(hasFreeSlot);
});

test("sandboxes of a key count against its own limit in the same way", () => {
  expect(slots(1, 2).hasCapacityFor("key")).toBe(true);
  expect(slots(1, 3).hasCapacityFor("key")).toBe(false);
});

test("a refusal tells how many slots are taken", () => {
  const refused = (keyId?: string) => () => slots(2, 4).requireSlot(keyId);
  expect(refused()).toThrow(
    expect.objectContaining({
      summary: "This server has at most 3 sandboxes and programs at a time.",
      details: { limit: 3, current: 3, available: 0 },
    }),
  );
  expect(refused("key")).toThrow(
    expect.objectContaining({ details: { limit: 2, current: 4, available: 0 } }),
  );
});

test("a key has a limited number of stopped sandboxes", () => {
  expect(() => slots(0, 0).requireStopSlot("key")).toThrow(
    expect.objectContaining({ status: 429, details: { limit: 4, current: 4, available: 0 } }),
  );
});
