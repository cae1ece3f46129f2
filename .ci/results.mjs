// Reads the results of test runs, for .ci/run.
//   node .ci/results.mjs failed FIRST         the files to run again, one per line; the exit code is 1 if there are none, or too many
//   node .ci/results.mjs count FIRST SECOND   the counts; for a file that was run again, those of the second run
import { existsSync, readFileSync } from "node:fs";

/** The most failed files that are run again. More failures have one cause, which a second run does not remove. */
const mostRunAgain = 3;

const [task, first, second] = process.argv.slice(2);
if (task === "failed") printFailed();
else count();

function printFailed() {
  const failed = (filesOf(first) ?? []).filter(({ status }) => status === "failed");
  if (failed.length === 0 || failed.length > mostRunAgain) process.exitCode = 1;
  else console.log(failed.map(({ name }) => name).join("\n"));
}

function count() {
  const files = filesOf(first);
  if (!files)
    console.error("There are no test results: the test run did not start. Its output above says why.");
  const again = new Map((existsSync(second) ? filesOf(second) : undefined)?.map((file) => [file.name, file]));
  for (const file of files ?? [])
    if (again.get(file.name)?.status === "passed")
      for (const title of titlesOf(file, "failed"))
        console.log(`Failed once, and passed when tried again: ${title}`);
  const totals = { passed: 0, failed: files ? 0 : 1, skipped: 0 };
  for (const file of (files ?? []).map((file) => again.get(file.name) ?? file)) {
    totals.passed += titlesOf(file, "passed").length;
    // A file that could not be loaded has no failed tests: count it as one.
    totals.failed += titlesOf(file, "failed").length || (file.status === "failed" ? 1 : 0);
    totals.skipped += titlesOf(file, "skipped", "pending", "todo", "disabled").length;
  }
  const { passed, failed, skipped } = totals;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
}

function filesOf(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).testResults;
  } catch {
    return undefined;
  }
}

function titlesOf({ assertionResults }, ...kinds) {
  return assertionResults.filter(({ status }) => kinds.includes(status)).map(({ fullName }) => fullName);
}
