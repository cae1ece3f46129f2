import { defineConfig } from "vitest/config";
import type { Reporter, TestCase } from "vitest/node";

/** Says of every test that did not run why it did not. */
class SkipReasons implements Reporter {
  readonly #skipped: string[] = [];

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    if (result.state === "skipped")
      this.#skipped.push(
        `  ${test.module.relativeModuleId} > ${test.fullName}: ${result.note ?? "no reason given"}`,
      );
  }

  onTestRunEnd(): void {
    if (this.#skipped.length > 0) console.log(`\nSkipped:\n${this.#skipped.sort().join("\n")}`);
  }
}

/** A file to leave the results in, for whoever wants to count them. */
const { VITEST_JSON } = process.env;

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts", "scripts/test/**/*.test.mjs"],
    pool: "forks",
    // Sandboxes are started for real, sometimes several at a time on two cores.
    // Only what hangs takes that long: a machine that is busy with something else makes every step of a test slow.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // A condition holds when it holds; a second is short for a process on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    reporters: ["default", new SkipReasons(), ...(VITEST_JSON ? ["json"] : [])],
    ...(VITEST_JSON && { outputFile: { json: VITEST_JSON } }),
  },
});
