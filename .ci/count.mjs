// Prints the counts of a test run, for .ci/run, and what became of Kubernetes: node .ci/count.mjs RESULTS PROGRAMS
import { readFileSync } from "node:fs";

const files = read(process.argv[2]);
if (!files)
  console.error("There are no test results: the test run did not start. Its output above says why.");
console.log(`Kubernetes: ${process.argv[3]}; ${suites(files ?? [])}`);
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

/** How long the suites of Kubernetes took. They run one after the other, and beside no other ones. */
function suites(files) {
  const run = files.filter(
    ({ name, assertionResults }) =>
      name.endsWith(".kubernetes.test.ts") &&
      assertionResults.some(({ status }) => status === "passed" || status === "failed"),
  );
  if (run.length === 0) return "its suites were skipped";
  const began = Math.min(...run.map(({ startTime }) => startTime));
  const ended = Math.max(...run.map(({ endTime }) => endTime));
  return `its suites took ${Math.round((ended - began) / 60_000)} min`;
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).testResults;
  } catch {
    return undefined;
  }
}
