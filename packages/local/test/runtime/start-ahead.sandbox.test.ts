import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { rawText } from "../../../../scripts/raw-text.js";
import { descendants } from "../../../../test/support/host-processes.js";
import type { BubblewrapRuntime } from "../../src/runtime/bubblewrap/bubblewrap-runtime.js";
import type { ProgramSpec } from "../../src/runtime/sandbox-runtime.js";

const limits = { memoryMb: 256, diskMb: 64, vcpu: 1, maxProcesses: 64 };
const plan = { id: "1700000000abcdefgh", language: "python", limits } as const;

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// The runtime is built here, because it looks for the agent beside itself and the package does not export it.
let directory: string;
let built: typeof import("../../src/runtime/bubblewrap/bubblewrap-runtime.js");
beforeAll(async () => {
  directory = await mkdtemp(pathOf("../../node_modules/.start-ahead-"));
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
  expect(waiting()).toEqual([]);
});

/** The ids of the processes of interpreters that this process has started. */
function waiting(): number[] {
  return descendants(process.pid)
    .filter(({ commandLine }) => /^python3 .*python-driver/s.test(commandLine))
    .map(({ pid }) => pid);
}

async function startAhead(): Promise<void> {
  await runtime.probe();
  await runtime.startAhead(plan);
  await expect.poll(waiting).not.toEqual([]);
}

async function printed(code: string, options: Partial<ProgramSpec> = {}): Promise<string> {
  const { stdout } = await runtime.run({
    ...{ ...plan, code, environment: {}, egress: () => undefined, timeoutSeconds: 60 },
    ...{ signal: new AbortController().signal, ...options },
  });
  return stdout.text;
}

test("a program runs in the interpreter that was started before, and the next one in another", async () => {
  await startAhead();
  const ahead = waiting();
  const stopping = new AbortController();
  const running = printed("import time; time.sleep(1000)", {
    signal: stopping.signal,
    onStart: () => {
      expect(waiting()).toEqual(ahead);
      stopping.abort();
    },
  });
  await running;
  expect(waiting()).toEqual([]);
  expect(await printed("print(6 * 7)")).toBe("42\n");
});

test.each<[string, string, Partial<ProgramSpec>]>([
  ["in another language", "console.log(42)", { language: "javascript" }],
  ["with variables", "import os; print(os.environ['ANSWER'])", { environment: { ANSWER: "42" } }],
  ["of another id", "print(42)", { id: "1700000000hgfedcba" }],
])("the interpreter that was started before is ended for a program %s", async (_, code, options) => {
  await startAhead();
  expect(await printed(code, options)).toBe("42\n");
  expect(waiting()).toEqual([]);
});

test("the interpreter that was started before ends with the runtime if nothing was run", async () => {
  await startAhead();
});

test("the directories that code may write to are kept in the user's cache, and nothing that code writes there", async () => {
  const cache = join(directory, "cache");
  await mkdir(cache);
  vi.stubEnv("XDG_CACHE_HOME", cache);
  const kept = join(cache, "cloud-sandbox-local", "tree-usr");
  const code = `import os
for directory in ("/usr/lib", "/usr/share/doc", "/usr/local/lib"):
  print(sorted(set(os.listdir(directory)) & {"made", "left"}))
  open(directory + "/left", "w").close()
  os.mkdir(directory + "/made")`;
  try {
    for (const had of [false, true]) {
      expect(existsSync(kept)).toBe(had);
      await startAhead();
      expect(await printed(code)).toBe("[]\n".repeat(3));
      await runtime.close();
    }
    expect(await readdir(join(kept, "lib"))).not.toContain("made");
    expect(await readdir("/usr/lib")).not.toContain("made");
  } finally {
    vi.unstubAllEnvs();
  }
});
