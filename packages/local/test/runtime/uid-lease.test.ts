import { expect, test } from "vitest";
import { mapsRanges, usableRange } from "../../src/runtime/host/uid-lease.js";

test.each([
  [
    "all uids are there, as on an ordinary host",
    "         0          0 4294967295\n",
    { first: 1_879_048_192, count: 65_536 },
  ],
  ["only some are, as in a container", "0 100000 65536\n", { first: 32_768, count: 32_768 }],
  ["two extents, the larger one counts", "0 1000 1\n1 100000 1000\n", { first: 501, count: 500 }],
])("when %s", (_, map, range) => {
  expect(usableRange(map)).toEqual(range);
});

test("a user namespace with only root in it cannot lend a uid, and the error says what to do", () => {
  expect(() => usableRange("0 1000 1\n")).toThrow("start as an ordinary user");
});

test("ranges of uids, for root inside, need all uids below 2^31", () => {
  expect(mapsRanges("0 0 4294967295\n")).toBe(true);
  expect(mapsRanges("0 100000 65536\n")).toBe(false);
  expect(mapsRanges("0 0 1879113728\n")).toBe(false);
});
