import { describe, expect, test } from "vitest";
import { unifiedDiff } from "../../src/changes/index.js";

describe("the header of a diff", () => {
  test.each([
    ["a b", "b/a b"],
    ["é", '"b/\\303\\251"'],
    ['q"\n\t', '"b/q\\"\\n\\t"'],
    ["\u202e\u001b[31m\u0085", '"b/\\342\\200\\256\\033[31m\\302\\205"'],
  ])("names %j as git and patch read it", (path, named) => {
    expect(unifiedDiff(path, undefined, "x\n").diff).toBe(
      `--- /dev/null\n+++ ${named}\n@@ -0,0 +1,1 @@\n+x\n`,
    );
  });
});

test("lines that look like a header keep all their characters", () => {
  expect(unifiedDiff("a", "-- one\t\n", "++ two\t\n").diff).toBe(
    "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n--- one\t\n+++ two\t\n",
  );
});
