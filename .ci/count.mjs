// The counts of the suite, from the results that it left:  node .ci/count.mjs RESULTS
import { readFileSync } from "node:fs";

const files = filesOf(process.argv[2]);
if (!files) console.error("The tests left no results: they did not get to run.");
const totals = { passed: 0, failed: files ? 0 : 1, skipped: 0 };
for (const file of files ?? []) {
  totals.passed += count(file, "passed");
  // A file that could not even be loaded holds no test that failed: it counts as one.
  totals.failed += count(file, "failed") || (file.status === "failed" ? 1 : 0);
  totals.skipped += count(file, "skipped", "pending", "todo", "disabled");
}
const { passed, failed, skipped } = totals;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);

function filesOf(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).testResults;
  } catch {
    return undefined;
  }
}

function count({ assertionResults }, ...kinds) {
  return assertionResults.filter(({ status }) => kinds.includes(status)).length;
}
