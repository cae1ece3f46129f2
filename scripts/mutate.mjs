#!/usr/bin/env node
// Changes code in many small ways (mutations), runs tests for each, and prints the changes that no test finds.
//   npm run mutate -- FILE… TEST…    files or globs of the source, and the test files that should find what is wrong in them
// Name only the nearest tests, and none that starts a sandbox: every mutation runs all of them that cover it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const isTest = (path) => path.endsWith(".test.ts");
const tests = process.argv.slice(2).filter(isTest);
const mutate = process.argv.slice(2).filter((path) => !isTest(path));
if (tests.length === 0 || mutate.length === 0) {
  console.error("Usage: npm run mutate -- FILE… TEST…, such as packages/local/src/egress/dialer.ts");
  console.error("       packages/local/test/egress/egress-dialer.test.ts");
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "mutate-"));
try {
  const [configFile, settingsFile] = [join(folder, "vitest.config.mjs"), join(folder, "stryker.json")];
  const test = {
    include: tests,
    // Keep workers, so that they do not load everything again for each mutation.
    isolate: false,
    testTimeout: 20_000,
    // Wait longer than Vitest's default, because some conditions hold only after a few seconds.
    expect: { poll: { timeout: 4000 } },
  };
  writeFileSync(configFile, `export default ${JSON.stringify({ test })};\n`);
  const settings = {
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile, related: false },
    mutate,
    // Do not change texts of messages: few tests depend on them.
    mutator: { excludedMutations: ["StringLiteral"] },
    coverageAnalysis: "perTest",
    concurrency: 2,
    // Allow much time, because a mutation counts as found if its tests take too long, and a busy machine is slow.
    timeoutMS: 20_000,
    timeoutFactor: 2,
    tempDirName: join(folder, "copy"),
    ignorePatterns: ["docs", "bench", "examples", "packages/*/dist/testing"],
    reporters: ["clear-text", "progress-append-only"],
    clearTextReporter: { allowColor: false, reportTests: false, skipFull: true },
    disableTypeChecks: false,
  };
  writeFileSync(settingsFile, JSON.stringify(settings));
  const stryker = join(root, "node_modules/.bin/stryker");
  const { status } = spawnSync("nice", ["-n", "10", stryker, "run", settingsFile], {
    cwd: root,
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
