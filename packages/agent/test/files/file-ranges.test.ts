import { Problem } from "@cloud-sandbox/server-kit";
import { expect, test } from "vitest";
import { byteRange } from "../../src/handlers/file-handlers.js";

test.each([
  [undefined, undefined],
  ["bytes=0-0", { start: 0, end: 0 }],
  ["bytes=2-4", { start: 2, end: 4 }],
  ["bytes=7-", { start: 7, end: 9 }],
  ["bytes=-3", { start: 7, end: 9 }],
  ["bytes=5-99", { start: 5, end: 9 }],
  ["bytes=0-1,4-5", undefined],
  ["lines=0-1", undefined],
  ["nonsense", undefined],
  ["", undefined],
])("of a file of ten bytes, the range %j is %o", (header, expected) => {
  const range = byteRange(header, 10);
  expect(range && { start: range.start, end: range.end }).toEqual(expected);
});

test.each([
  ["bytes=10-", 10],
  ["bytes=20-30", 10],
  ["bytes=0-", 0],
])("a range outside the file is refused, with its size: %s of %d", (header, size) => {
  const refused = (): unknown => byteRange(header, size);
  expect(refused).toThrow(Problem);
  expect(refused).toThrow(
    expect.objectContaining({ status: 416, headers: { "content-range": `bytes */${size}` } }),
  );
});
