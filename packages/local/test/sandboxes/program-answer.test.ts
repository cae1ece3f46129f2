import { expect, test } from "vitest";
import { programAnswer } from "../../src/sandboxes/program-answer.js";

const spec = { language: "python3", wantsRich: true };

test("of an agent's answer only the fields of the contract are kept, with their types", () => {
  const raw = {
    ...{ stdout: "out", stderr: 5, exit_code: "0", success: true, execution_time: "long" },
    ...{ termination_reason: "victory", stdout_bytes: 1.5, stderr_truncated: "yes", result: ["1"], png: {} },
    ...{ id: "another", isolation: "microvm", extra: 1, json: [1], html: "<b>" },
    language: "python",
    rich_outputs: [
      "text",
      { data: 1 },
      { type: "text/html", format: 1, data: "<b>", metadata: { size: "x" }, more: 1 },
    ],
  };
  const answer = programAnswer(raw, spec);
  expect(answer).toEqual({
    ...{ success: false, stdout: "out", stderr: "", exit_code: 1, execution_time: 0, json: [1], html: "<b>" },
    language: "python",
    rich_outputs: [{ type: "text/html", data: "<b>" }],
  });
});

test("no more displayed values are kept than code may display", () => {
  const rich_outputs = Array.from({ length: 100 }, () => ({ type: "text/plain" }));
  expect(programAnswer({ exit_code: 0, rich_outputs }, spec).rich_outputs).toHaveLength(64);
});

test("displayed values are left out if the caller does not want them", () => {
  const raw = { exit_code: 0, rich_outputs: [{ type: "text/plain" }] };
  expect(programAnswer(raw, { ...spec, wantsRich: false }).rich_outputs).toEqual([]);
});

test("the exception of a hostile agent has texts of the contract's size, and nothing else", () => {
  const exception = { name: { toString: null }, value: "x".repeat(70_000), more: "secret" };
  expect(programAnswer({ exit_code: 1, exception }, spec).exception).toEqual({
    name: "",
    value: "x".repeat(65_536),
    traceback: "",
  });
  for (const none of [null, "text", 1])
    expect(programAnswer({ exit_code: 1, exception: none }, spec)).not.toHaveProperty("exception");
});
