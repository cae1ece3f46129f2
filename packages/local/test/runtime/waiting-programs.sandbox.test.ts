import { cp, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { rawText } from "../../../../scripts/raw-text.js";
import { descendants } from "../../../../test/support/host-processes.js";
import type { BubblewrapRuntime } from "../../src/runtime/bubblewrap/bubblewrap-runtime.js";
import type { ProgramSpec } from "../../src/runtime/sandbox-runtime.js";

const limits = { memoryMb: 256, diskMb: 64, vcpu: 1, maxProcesses: 64 };
const plan = { language: "python", limits } as const;

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// The runtime is built here, because it looks for the agent beside itself and the package does not export it.
let directory: string;
let built: typeof import("../../src/runtime/bubblewrap/bubblewrap-runtime.js");
beforeAll(async () => {
  directory = await mkdtemp(pathOf("../../node_modules/.waiting-programs-"));
  const outfile = join(directory, "runtime.mjs");
  await build({
    entryPoints: [pathOf("../../src/runtime/bubblewrap/bubblewrap-runtime.ts")],
    outfile,
    ...{ bundle: true, platform: "node", target: "node20", format: "esm", plugins: [rawText()] },
  });
  await cp(pathOf("../../../agent/dist"), join(directory, "agent"), { recursive: true });
  built = await import(outfile);
});
afterAll(() => rm(directory, { recursive: true }));

let runtime: BubblewrapRuntime;
beforeEach(() => {
  runtime = new built.BubblewrapRuntime();
});
afterEach(async () => {
  await runtime.close();
  expect(interpreters()).toEqual([]);
});

/** The processes of programs, waiting or running, that this process has started. */
function interpreters(): number[] {
  return descendants(process.pid)
    .filter(({ commandLine }) => /^python3 .*python-driver|^node -e/s.test(commandLine))
    .map(({ pid }) => pid);
}

/** Waits until all programs wait that are kept. */
async function allWaiting(language: ProgramSpec["language"] = "python"): Promise<number[]> {
  await runtime.probe();
  runtime.expectPrograms({ ...plan, language });
  await allKept();
  return interpreters();
}

const allKept = () => expect.poll(() => interpreters().length, { timeout: 20_000 }).toBe(2);

function run(code: string, options: Partial<ProgramSpec> = {}) {
  return runtime.run({
    ...{ ...plan, id: "1700000000abcdefgh", code, environment: {}, egress: () => undefined },
    ...{ timeoutSeconds: 60, signal: new AbortController().signal, ...options },
  });
}

/** How many interpreters are started for a program with these settings: none, if it gets one that waited. */
async function startedFor(options: Partial<ProgramSpec> = {}): Promise<number> {
  // One that is started in place of another is none for the program.
  await allKept();
  const before = interpreters();
  const stopping = new AbortController();
  let started = 0;
  await run(options.language === "javascript" ? "for (;;);" : "while True: pass", {
    ...{ ...options, signal: stopping.signal },
    onStart: () => {
      started = interpreters().filter((pid) => !before.includes(pid)).length;
      stopping.abort();
    },
  });
  return started;
}

test("a program gets an interpreter that waited, which the next one does not get", async () => {
  const first = await allWaiting();
  for (const left of [1, 0]) {
    expect(await startedFor()).toBe(0);
    await allKept();
    expect(interpreters().filter((pid) => first.includes(pid))).toHaveLength(left);
  }
});

const looks = {
  python: `import os, sys
print(sorted(os.environ.items()), sys.argv, sys.path, __file__, __name__, os.getcwd(), os.getpid(), os.listdir())
print(sys.flags, sys.stdout.encoding, sorted(os.listdir("/proc/self/fd")), os.getpgrp(), os.times().children_user)
1 / 0`,
  javascript: `const { readdirSync } = require("node:fs")
console.log(Object.entries(process.env).sort(), process.argv, process.execArgv, __filename, process.cwd(), process.pid)
console.log(readdirSync("/proc/self/fd"), readdirSync("."), process.title, new Date(0).getHours())
throw new Error("end")`,
};

test.each(["python", "javascript"] as const)(
  "%s: a program that waited gives the answer of a new one",
  async (language) => {
    const call: Partial<ProgramSpec> = {
      ...{ language, filename: `named.${language === "python" ? "py" : "js"}` },
      environment: {
        ANSWER: "42",
        constructor: "a",
        toString: "b",
        TZ: "Asia/Tokyo",
        HTTP_PROXY: "http://127.0.0.1:9",
        EMPTY: "",
      },
    };
    await runtime.probe();
    const { duration: _, ...fresh } = await run(looks[language], call);
    const waiting = await allWaiting(language);
    const { duration: __, ...waited } = await run(looks[language], call);
    expect(interpreters().filter((pid) => waiting.includes(pid))).toHaveLength(1);
    expect(waited).toEqual(fresh);
    expect(waited).toMatchObject({ exitCode: 1, stdout: { text: expect.stringContaining("42") } });
  },
);

test("no two programs share what is random", async () => {
  await allWaiting();
  const code =
    "import os, random, uuid; print(hash('text'), random.random(), uuid.uuid4(), os.urandom(4).hex())";
  const answers = await Promise.all(Array.from({ length: 6 }, () => run(code)));
  const values = answers.flatMap(({ stdout }) => stdout.text.split(" "));
  expect(new Set(values).size).toBe(4 * 6);
});

test.each<[string, Partial<ProgramSpec>]>([
  ["variables that the interpreter reads at its start", { environment: { PYTHONHASHSEED: "0" } }],
  ["a locale", { environment: { LC_ALL: "C" } }],
  ["another home directory", { environment: { HOME: "/tmp" } }],
  ["other limits", { limits: { ...limits, memoryMb: 128 } }],
  ["no network", { egress: undefined }],
])("a program with %s gets a new interpreter", async (_, options) => {
  await allWaiting();
  expect(await startedFor(options)).toBe(1);
});

test("other limits are kept ready when they are asked for twice in a row", async () => {
  const other: Partial<ProgramSpec> = { limits: { ...limits, memoryMb: 128 } };
  const first = await allWaiting();
  expect(await startedFor(other)).toBe(1);
  expect(await startedFor()).toBe(0);
  expect(await startedFor(other)).toBe(1);
  expect(await startedFor(other)).toBe(1);
  await expect.poll(() => interpreters().filter((pid) => first.includes(pid))).toEqual([]);
  expect(await startedFor(other)).toBe(0);
});

test("one that does not answer is given up for a new one", async () => {
  for (const pid of await allWaiting()) process.kill(pid, "SIGSTOP");
  expect((await run("print(42)")).stdout.text).toBe("42\n");
});

test("one that has begun goes on, although its start is read too late", async () => {
  const waiting = await allWaiting();
  for (const pid of waiting) process.kill(pid, "SIGSTOP");
  const running = run("print('ran')");
  await sleep(9500);
  // Timers come next after this phase of the event loop, and what sockets bring only after them.
  await new Promise(setImmediate);
  for (const pid of waiting) process.kill(pid, "SIGCONT");
  // It begins while nothing is read here, until its limit of 10 s is over.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
  expect(await running).toMatchObject({ exitCode: 0, stdout: { text: "ran\n" }, stderr: { text: "" } });
});

test("one that ends while it waits is replaced, and programs run meanwhile", async () => {
  const first = await allWaiting();
  for (const pid of first) process.kill(pid, "SIGKILL");
  expect((await run("print(42)")).stdout.text).toBe("42\n");
  const second = await allWaiting();
  expect(second.filter((pid) => first.includes(pid))).toEqual([]);
});
