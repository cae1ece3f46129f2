import { describe, expect, test } from "vitest";
import { isModestJson, longestAnswer } from "../src/bounded-answers.js";

const many = (piece: string, count: number): string => `[${`${piece},`.repeat(count)}0]`;

describe("JSON that costs more to read than its length suggests", () => {
  test.each([
    ["empty objects", many("{}", 300_000)],
    ["empty lists", many("[]", 300_000)],
    ["names of one object", `{${Array.from({ length: 1_000_001 }, (_, at) => `"${at}":0`).join()}}`],
    ["numbers", many("1", 5_000_001)],
    ["depth", "[".repeat(40_000) + "]".repeat(40_000)],
    [
      "empty objects behind a string that ends in a backslash",
      `["${"\\\\".repeat(10)}",${many("{}", 300_000)}]`,
    ],
    ["empty objects in a text that is no JSON", many("{}", 300_000).slice(0, -1)],
  ])("%s", (_, text) => expect(isModestJson(text)).toBe(false));
});

describe("JSON unlike what agents send", () => {
  test.each([
    [
      "a program's output, full of what looks like objects",
      JSON.stringify({ stdout: '{"},[":'.repeat(1_000_000) }),
    ],
    ["a megabyte of control characters", JSON.stringify({ stdout: "\u0001".repeat(1_048_576) })],
    ["a megabyte of quotes and backslashes", JSON.stringify({ stdout: '\\"'.repeat(524_288) })],
    ["an image", JSON.stringify({ rich_outputs: [{ type: "image/png", data: "A".repeat(8_388_608) }] })],
    [
      "a directory of 90,000 files",
      JSON.stringify({
        files: Array.from({ length: 90_000 }, (_, at) => ({
          ...{ name: `${at}.txt`, path: `/workspace/${at}.txt`, size: at, is_dir: false },
          ...{ permissions: "-rw-r--r--", modified_time: "2026-01-01T00:00:00Z", type: "file" },
        })),
      }),
    ],
    ["a list of two million numbers", many("1.5", 2_000_000)],
    ["a text that is no JSON", `"${"x".repeat(100_000)}`],
  ])("%s", (_, text) => expect(isModestJson(text)).toBe(true));
});

test.each([
  ["/execute", 40],
  ["/execute/rich?x=/ping", 40],
  ["/execute/processes/proc_1/output?wait=1", 40],
  ["/commands/run", 40],
  ["/files/read?path=/files/download", 64],
  ["/files/list", 64],
  ["/ping", 8],
  ["/env", 8],
  ["/execute/processes", 8],
  ["/files/download?path=a", undefined],
  ["/desktop/screenshot", undefined],
])("%s may answer with %s MiB", (path, mebibytes) => {
  expect(longestAnswer(path)).toBe(mebibytes === undefined ? undefined : mebibytes * 1024 * 1024);
});
