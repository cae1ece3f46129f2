// Prints the counts of a test run, for .ci/run: node .ci/count.mjs RESULTS
import { readFileSync } from "node:fs";

const files = read(process.argv[2]);
if (!files)
  console.error("There are no test results: the test run did not start. Its output above says why.");
const totals = { passed: 0, failed: files ? 0 : 1, skipped: 0 };
for (const { status, assertionResults } of files ?? []) {
  const count = (...kinds) => assertionResults.filter((test) => kinds.includes(test.status)).length;
  totals.passed += count("passed");
  // A file that could not be loaded has no failed tests: count it as one.
  totals.failed += count("failed") || (status === "failed" ? 1 : 0);
  totals.skipped += count("skipped", "pending", "todo", "disabled");
}
const { passed, failed, skipped } = totals;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);

function read(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).testResults;
  } catch {
    return undefined;
  }
}
