import { availableParallelism, networkInterfaces } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import {
  BaseSequencer,
  type Reporter,
  type TestCase,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from "vitest/node";
import { canMount, sandboxObstacle, sandboxPackages, testPackages } from "./scripts/host-packages.mjs";

const obstacle = sandboxObstacle();

/** Vitest takes the option of one of a test's tags: a tag of what is there must not say anything. */
function skippedIf(isMissing: boolean): { skip?: true } {
  return isMissing ? { skip: true } : {};
}

/** What tests say that they need, as `{ tags: ["curl"] }`. Where it is missing, they are skipped, with the description as reason. */
const tags = [
  { name: "sandboxes", description: obstacle ?? "a sandbox", ...skippedIf(obstacle !== undefined) },
  { name: "no-sandboxes", description: "A file of the project that starts no sandbox." },
  { name: "root", description: "only root can do this", ...skippedIf(process.getuid?.() !== 0) },
  { name: "mount", description: "only root can mount a file system here", ...skippedIf(!canMount()) },
  {
    name: "ipv6",
    description: "this machine has no IPv6 address",
    ...skippedIf(
      !Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1")),
    ),
  },
  ...[...sandboxPackages.filter(({ debian }) => debian === "python3"), ...testPackages].map(
    ({ debian, isThere }) => ({
      name: debian,
      description: `${debian} is not installed`,
      ...skippedIf(!isThere()),
    }),
  ),
];

/** Prints for every skipped test why it was skipped. */
class SkipReasons implements Reporter {
  readonly #skipped: string[] = [];
  #isForName = false;

  onInit({ config }: Vitest): void {
    this.#isForName = config.testNamePattern !== undefined;
  }

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    // With -t, all tests of other names are skipped.
    if (result.state !== "skipped" || this.#isForName) return;
    const lacks = tags.find(
      ({ name, skip }: { name: string; skip?: true }) => skip && test.tags.includes(name),
    )?.description;
    const reason = result.note ?? lacks ?? "no reason given";
    this.#skipped.push(`  ${test.module.relativeModuleId} > ${test.fullName}: ${reason}`);
  }

  onTestRunEnd(): void {
    if (this.#skipped.length > 0) console.log(`\nSkipped:\n${this.#skipped.sort().join("\n")}`);
  }
}

/** Names the files that are still running when the run is ended from outside: one of them may never end. */
class RunningFiles implements Reporter {
  readonly #running = new Set<string>();

  onInit(): void {
    process.once("SIGTERM", () => {
      console.log(`\nStill running:\n${[...this.#running].map((file) => `  ${file}`).join("\n")}`);
      process.kill(process.pid, "SIGTERM");
    });
  }

  onTestModuleStart({ relativeModuleId }: TestModule): void {
    this.#running.add(relativeModuleId);
  }

  onTestModuleEnd({ relativeModuleId }: TestModule): void {
    this.#running.delete(relativeModuleId);
  }
}

/**
 * Starts the files of some folders first. Vitest starts those first that took longest in the last run, or the largest ones if
 * it has no durations. The files of these folders are small and take long, because they use large modules, install programs
 * or wait, so a run without durations would end with a few of them alone.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      /\/test\/(chaos|conformance|contract|docs|fuzz|hostile|mcp|mcp-runner|packaging|templates)\/|\/(stuck-machines|vendor-images)/.test(
        moduleId,
      );
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** A file to which the results are written as JSON. */
const { VITEST_JSON } = process.env;

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Boot no sandbox in advance, because most tests need only one. Tests of the pool set its size themselves. */
const withoutSpares = { CLOUD_SANDBOX_POOL: process.env.CLOUD_SANDBOX_POOL ?? "0" };

export default defineConfig({
  test: {
    pool: "forks",
    // Run twice as many files at a time as there are processors, because tests spend most of their time waiting for a
    // sandbox, a process or a limit. Not more than eight, because sandboxes need memory.
    maxWorkers: Math.min(2 * availableParallelism(), 8),
    // Tests that are concurrent do nothing but wait.
    maxConcurrency: 10,
    sequence: { sequencer: LongestFirst },
    // Sandboxes are started for real, sometimes several at a time on two cores.
    // Only what hangs takes that long: a machine that is busy with something else makes every step of a test slow.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // A condition holds when it holds; a second is short for a process on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    // What differs is all that is known of a failure on another machine.
    chaiConfig: { truncateThreshold: 2000 },
    tags,
    reporters: ["default", new SkipReasons(), new RunningFiles(), ...(VITEST_JSON ? ["json"] : [])],
    ...(VITEST_JSON && { outputFile: { json: VITEST_JSON } }),
    // A file's name and folder say which project it belongs to. Projects with another `groupOrder` run one after the other.
    projects: [
      {
        extends: true,
        // The client is read from its source: nothing needs to be built.
        resolve: {
          alias: [{ find: /^cloud-sandbox$/, replacement: pathOf("packages/client/src/index.ts") }],
        },
        test: {
          name: "unit",
          // Most of them wait for a limit to pass.
          maxWorkers: 3 * availableParallelism(),
          include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.mjs"],
          exclude: [
            ...configDefaults.exclude,
            "packages/agent/**",
            "**/*.{isolated,sandbox,browser}.test.ts",
          ],
          isolate: false,
          setupFiles: [pathOf("test/support/shared-process.ts")],
        },
      },
      {
        extends: true,
        test: {
          // They replace modules, or look at everything that their process has open.
          name: "isolated",
          maxWorkers: 3 * availableParallelism(),
          include: ["packages/*/test/**/*.isolated.test.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "agent",
          runner: pathOf("test/support/project-runner.ts"),
          include: ["packages/agent/test/**/*.test.ts"],
          isolate: false,
          setupFiles: [pathOf("test/support/shared-process.ts")],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "sandbox",
          runner: pathOf("test/support/project-runner.ts"),
          include: ["packages/*/test/**/*.sandbox.test.ts", "test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, "**/*.{alone,browser,docker,kubernetes}.test.ts"],
          env: withoutSpares,
          isolate: false,
          globalSetup: [pathOf("test/support/ordinary-user-caches.ts")],
          setupFiles: [pathOf("test/support/shared-process.ts")],
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          // They share a Docker daemon that the run starts for them.
          name: "docker",
          include: ["test/**/*.docker.test.ts"],
          env: withoutSpares,
          isolate: false,
          globalSetup: [pathOf("test/support/docker/own-daemon.ts")],
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          // They share a Kubernetes cluster that the run starts for them, and count its Pods.
          name: "kubernetes",
          maxWorkers: 1,
          include: ["test/**/*.kubernetes.test.ts"],
          env: withoutSpares,
          isolate: false,
          globalSetup: [pathOf("test/support/kubernetes/own-cluster.ts")],
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          // They leave nothing of the machine to others.
          name: "alone",
          runner: pathOf("test/support/project-runner.ts"),
          maxWorkers: 1,
          include: ["test/**/*.alone.test.ts"],
          env: withoutSpares,
          sequence: { groupOrder: 4 },
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          runner: pathOf("test/support/project-runner.ts"),
          include: ["packages/*/test/**/*.browser.test.ts", "test/**/*.browser.test.ts"],
          env: withoutSpares,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
