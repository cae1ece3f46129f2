#!/usr/bin/env node
// Changes code that guards against attacks and mistakes in many small ways (mutations), and counts the changes that tests find.
//   npm run mutate -- PATH           a file in the table of scripts/mutation/guards.mjs, or a folder of such files
//   npm run mutate -- PATH --again   only mutations that no test found the last time, or that only a time limit found
//   npm run mutate -- --report       writes docs/reports/mutation.md again, with the current reasons
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { guards, testedWhenLoaded } from "./mutation/guards.mjs";
import { readResults, writeReport, writeResults } from "./mutation/report.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

const options = process.argv.slice(2).filter((given) => given.startsWith("--"));
const paths = process.argv
  .slice(2)
  .filter((given) => !given.startsWith("--"))
  .map((given) => given.replace(/^\.\//, "").replace(/\/$/, ""));
const files = Object.entries(guards).flatMap(([room, entries]) =>
  Object.entries(entries)
    .filter(([file]) => paths.some((path) => file === path || file.startsWith(`${path}/`)))
    .map(([file, tests]) => ({ room, file, tests: [tests].flat() })),
);
if (files.length === 0 && !options.includes("--report")) {
  const known = Object.values(guards).flatMap((entries) => Object.keys(entries));
  console.error(`Give one or several of these, or folders of them:\n  ${known.join("\n  ")}`);
  process.exit(1);
}
// Test files together that have the same tests, because each run first finds out which tests cover what, which takes
// long.
const groups = new Map();
for (const entry of files) {
  const key = `${entry.tests} ${testedWhenLoaded.has(entry.file)}`;
  groups.set(key, [...(groups.get(key) ?? []), entry]);
}
for (const group of groups.values()) {
  const known = readResults();
  const entries = group.map((entry) => {
    const digest = digestOf(entry.file);
    const last = known[entry.file]?.digest === digest ? known[entry.file] : undefined;
    return { ...entry, digest, last: options.includes("--again") ? last : undefined };
  });
  const mutate = entries.flatMap(({ file, last }) =>
    last ? [...last.survivors, ...last.late].map(({ range }) => `${file}:${range}`) : [file],
  );
  if (mutate.length === 0) continue;
  const mutants = await run(mutate, group[0].tests, testedWhenLoaded.has(group[0].file));
  const results = readResults();
  for (const { file, room, digest, last } of entries) {
    const counted = mutants.filter(
      (mutant) => mutant.file === file && /Killed|Timeout|Survived|NoCoverage/.test(mutant.status),
    );
    const wanted = new Set(last && [...last.survivors, ...last.late].map(nameOf));
    const those = (mutants) =>
      mutants.map(placeOf).filter((mutant) => last === undefined || wanted.has(nameOf(mutant)));
    const survivors = those(counted.filter(({ status }) => /Survived|NoCoverage/.test(status)));
    const late = those(counted.filter(isLate));
    const bugs = last ? last.bugs : counted.length;
    results[file] = { room, digest, bugs, survivors, late };
    console.log(`${file}: ${bugs - survivors.length} of ${bugs} found, ${late.length} by a time limit`);
  }
  writeResults(results);
}
writeReport();

function digestOf(file) {
  return createHash("sha256")
    .update(readFileSync(join(root, file)))
    .digest("hex")
    .slice(0, 16);
}

/** Runs the mutations of some files. Resolves with the outcome of each. */
async function run(mutate, tests, isLoadedOnly) {
  const folder = mkdtempSync(join(tmpdir(), "mutate-"));
  try {
    const [vitest, config, result] = ["vitest.config.mjs", "stryker.json", "result.json"].map((name) =>
      join(folder, name),
    );
    const test = {
      include: tests,
      // Keep workers, so that they do not load everything again for each mutation.
      isolate: false,
      testTimeout: 20_000,
      // Wait longer than Vitest's default, because some conditions hold only after a few seconds.
      expect: { poll: { timeout: 4000 } },
    };
    writeFileSync(vitest, `export default ${JSON.stringify({ test })};\n`);
    const settings = {
      testRunner: "vitest",
      plugins: ["@stryker-mutator/vitest-runner"],
      vitest: { configFile: vitest, related: false },
      mutate,
      // Do not change texts of messages: few tests depend on them.
      mutator: { excludedMutations: isLoadedOnly ? [] : ["StringLiteral"] },
      coverageAnalysis: "perTest",
      // Do not change code that runs while a file is loaded: such a change breaks the loading, which is no test's
      // finding.
      ignoreStatic: !isLoadedOnly,
      concurrency: 2,
      // Allow much time, because a mutation counts as found if its tests take too long, and a busy machine is slow.
      timeoutMS: 20_000,
      timeoutFactor: 2,
      tempDirName: join(folder, "copy"),
      ignorePatterns: ["docs", "bench", "examples", "packages/*/dist/testing"],
      reporters: ["json", "progress-append-only"],
      jsonReporter: { fileName: result },
      allowEmpty: true,
      disableTypeChecks: false,
    };
    writeFileSync(config, JSON.stringify(settings));
    const stryker = join(root, "node_modules/.bin/stryker");
    const child = spawn("nice", ["-n", "10", stryker, "run", config], { cwd: root, stdio: "inherit" });
    await new Promise((resolve) => child.on("close", resolve));
    if (!existsSync(result)) throw new Error("No bug could be put in; the lines above say why.");
    const { files } = JSON.parse(readFileSync(result, "utf8"));
    return Object.entries(files).flatMap(([file, { mutants, source }]) =>
      mutants.map((mutant) => ({ ...mutant, file, source })),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function nameOf({ range, now }) {
  return `${range} ${now}`;
}

/**
 * Whether a mutation was found only because something took too long. A busy machine may be the reason, so run it again.
 */
function isLate({ status, statusReason = "" }) {
  return status === "Timeout" || (status === "Killed" && /timed? ?out|in time/i.test(statusReason));
}

function placeOf({ location: { end, start }, mutatorName, replacement, source }) {
  const lines = source.split("\n");
  const line = lines[start.line - 1];
  return {
    range: `${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`,
    line: line.trim(),
    was: start.line === end.line ? line.slice(start.column - 1, end.column - 1) : line.trim(),
    now: (replacement ?? mutatorName).replace(/\s+/g, " "),
  };
}
