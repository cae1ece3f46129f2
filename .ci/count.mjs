// Prints the counts of the test runs, for .ci/run: node .ci/count.mjs RESULTS BARE_RESULTS. Exits 1 if tests did not run that could.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { hasKubernetes } from "../scripts/host-setup.mjs";

const [files, bare] = process.argv.slice(2).map(read);
if (!files)
  console.error("There are no test results: the test run did not start. Its output above says why.");
const suites = suitesOfKubernetes(files ?? []);
console.log(suites === undefined ? "Kubernetes: its suites were skipped" : `Kubernetes: ${suites}`);
if (suites === undefined && hasKubernetes()) {
  console.error(
    "The programs of Kubernetes are there, and yet its suites were skipped. Their reason is above.",
  );
  process.exitCode = 1;
}
for (const failure of [...failures(files), ...failures(bare)]) console.log(failure);
console.log(`On a bare machine: ${counts(bare)}`);
console.log(counts(files));

function counts(files) {
  const totals = { passed: 0, failed: files ? 0 : 1, skipped: 0 };
  for (const { status, assertionResults } of files ?? []) {
    const count = (...kinds) => assertionResults.filter((test) => kinds.includes(test.status)).length;
    totals.passed += count("passed");
    // A file that could not be loaded, or was not tidied up, has no failed tests: count it as one.
    totals.failed += count("failed") || (status === "failed" ? 1 : 0);
    totals.skipped += count("skipped", "pending", "todo", "disabled");
  }
  const { passed, failed, skipped } = totals;
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/** What failed and why, once more: the output of the tests is long, and this is read from its end. */
function failures(files) {
  return (files ?? []).flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === "failed");
    const all = failed.map(({ fullName, failureMessages }) => [fullName, failureMessages.join("\n")]);
    if (status === "failed" && failed.length === 0) all.push(["outside of its tests", message]);
    return all.map(([test, why]) => `✗ ${relative(".", name)} > ${test}\n${why.slice(0, 2000)}\n`);
  });
}

/** How long the suites of Kubernetes took. They run one after the other, and beside no other ones. Undefined if all were skipped. */
function suitesOfKubernetes(files) {
  const run = files.filter(
    ({ name, assertionResults }) =>
      name.endsWith(".kubernetes.test.ts") &&
      assertionResults.some(({ status }) => status === "passed" || status === "failed"),
  );
  if (run.length === 0) return undefined;
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
