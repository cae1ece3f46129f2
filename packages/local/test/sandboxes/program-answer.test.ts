import { expect, test } from "vitest";
import { programAnswer } from "../../src/sandboxes/program-answer.js";

test("an agent's answer keeps only what the contract says, in its types", () => {
  const answer = programAnswer({
    ...{ stdout: "out", stderr: 5, exit_code: "0", success: true, execution_time: "long" },
    ...{ termination_reason: "victory", stdout_bytes: 1.5, stderr_truncated: "yes", result: ["1"], png: {} },
    ...{ id: "another", isolation: "microvm", extra: 1, json: [1], html: "<b>" },
    rich_outputs: [
      "text",
      { data: 1 },
      { type: "text/html", format: 1, data: "<b>", metadata: { size: "x" }, more: 1 },
    ],
  });
  expect(answer).toEqual({
    ...{ success: false, stdout: "out", stderr: "", exit_code: 1, execution_time: 0, json: [1], html: "<b>" },
    rich_outputs: [{ type: "text/html", data: "<b>" }],
  });
});

test("there are no more displayed values than any code may display", () => {
  const rich_outputs = Array.from({ length: 100 }, () => ({ type: "text/plain" }));
  expect(programAnswer({ exit_code: 0, rich_outputs }).rich_outputs).toHaveLength(64);
});
