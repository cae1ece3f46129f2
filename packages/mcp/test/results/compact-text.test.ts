import { expect, it } from "vitest";
import { compactText } from "../../src/results/answer.js";

it.each([
  ["numbers and words", { exit_code: 0, status: "running" }, "exit_code: 0\nstatus: running"],
  [
    "text of several lines, without the last line's end",
    { stdout: "a\nb\n", stderr: "" },
    "stdout:\na\nb\nstderr: ",
  ],
  ["one line of output", { stdout: "42\n" }, "stdout:\n42"],
  [
    "lists, an entry per line",
    { files: [{ name: "a" }, { name: "b" }], count: 2 },
    'files:\n{"name":"a"}\n{"name":"b"}\ncount: 2',
  ],
  ["lists of words", { names: ["A", "B"] }, "names:\nA\nB"],
  ["an empty list", { files: [] }, "files: []"],
  ["what is absent, by nothing", { note: undefined, count: 1 }, "count: 1"],
])("compactText writes %s", (_, result, text) => {
  expect(compactText(result)).toBe(text);
});
