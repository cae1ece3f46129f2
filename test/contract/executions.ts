import {
  type ExecuteOptions,
  type ExecutionResult,
  type Sandbox,
  type SandboxClient,
  ValidationError,
} from "cloud-sandbox";
import { describe, expect, test } from "vitest";
import { processCount } from "../support/process-count.js";
import type { Backend } from "./backends/backend.js";
import { twoPages } from "./suite-programs.js";

export interface ExecutionParts {
  readonly backend: () => Backend;
  readonly sandbox: () => Sandbox;
  /** The number of sandboxes. */
  readonly count: () => Promise<number>;
}

type Run = (
  code: string,
  options?: Pick<ExecuteOptions, "env" | "language" | "stdin" | "timeoutSeconds">,
) => Promise<ExecutionResult>;

/** What every backend must do with code: in a sandbox, and without one. */
export function executionSuite({ backend, sandbox, count }: ExecutionParts): void {
  const client = (): SandboxClient => backend().client;
  const languages = () => backend().languages;

  describe.each<[string, Run]>([
    ["executions", (code, options) => sandbox().execute(code, options)],
    ["executions that need no sandbox", (code, options) => client().executeIsolated(code, options)],
  ])("%s", (_, run) => {
    test.each([
      ["python", "import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(3)"],
      ["javascript", "console.log('out'); console.error('err'); process.exit(3)"],
      ["bash", "echo out; echo err >&2; exit 3"],
      [
        "go",
        'package main\nimport ("fmt"; "os")\nfunc main() { fmt.Println("out"); fmt.Fprintln(os.Stderr, "err"); os.Exit(3) }',
      ],
    ])("of %s tell stdout, stderr and exit code apart", { timeout: 120_000 }, async (language, code) => {
      if (!languages().includes(language)) {
        await expect(run(code, { language })).rejects.toThrow(/not available|has no/);
        return;
      }
      const result = await run(code, { language, timeoutSeconds: 100 });
      expect(result.stdout).toBe("out\n");
      expect(result.stderr).toContain("err\n");
      expect(result.exitCode).toBe(3);
      expect(result.success).toBe(false);
      expect(result.executionTimeSeconds).toBeGreaterThan(0);
    });

    test("end at their timeout, with what they had printed", async () => {
      const result = await run("print('started', flush=True)\nimport time\ntime.sleep(60)", {
        timeoutSeconds: 6,
      });
      expect(result).toMatchObject({
        stdout: "started\n",
        exitCode: 124,
        terminationReason: "timeout",
        success: false,
      });
      expect(result.executionTimeSeconds).toBeLessThan(50);
    });

    test("give everything that they displayed, and the exception that ended them", async () => {
      const result = await run(twoPages);
      expect(result.richOutputs.map(({ data }) => data)).toEqual(["one", "two"]);
      expect(result.error).toMatchObject({ name: "ValueError", value: "no" });
      expect(result.error?.traceback).toContain("ValueError: no");
    });

    test("read the input that they are given", async () => {
      const code = "import sys\nprint(sys.stdin.read())";
      expect(await run(code, { stdin: "one\ntwo" })).toMatchObject({
        stdout: "one\ntwo\n",
        error: undefined,
      });
    });

    test.each([
      ["an unknown language", { language: "cobol" }],
      ["a timeout of 0", { timeoutSeconds: 0 }],
      ["a timeout of 301", { timeoutSeconds: 301 }],
    ])("are refused for %s", async (_, options) => {
      await expect(run("1", options)).rejects.toThrow(ValidationError);
    });

    test("run at the same time without disturbing each other", async () => {
      const runs = await Promise.all(
        Array.from({ length: 8 }, (_, index) => run(`print(${index})`).then(({ stdout }) => stdout.trim())),
      );
      expect(runs).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
    });
  });

  describe("executions", () => {
    test("see the variables, the directory and the files that they are given", async () => {
      await sandbox().files.mkdir("/workspace/place");
      await sandbox().files.write("/workspace/place/helper.py", "answer = 42\n");
      const run = await sandbox().execute(
        "import os, helper\nprint(os.getcwd(), os.environ['NAME'], helper.answer)",
        {
          workdir: "/workspace/place",
          env: { NAME: "value" },
        },
      );
      expect(run.stdout).toBe("/workspace/place value 42\n");
    });

    test("stop in the sandbox when their caller aborts", async () => {
      const controller = new AbortController();
      const call = sandbox().execute("sleep 54321", { language: "bash", signal: controller.signal });
      const running = async (): Promise<string> =>
        (await sandbox().execute(processCount("sleep 54321"), { language: "bash" })).stdout;
      await expect.poll(running).toBe("1\n");
      controller.abort();
      await expect(call).rejects.toMatchObject({ name: "AbortError" });
      await expect.poll(running).toBe("0\n");
    });

    test("in a sandbox of their own leave none behind, whatever becomes of them", async () => {
      const before = await count();
      const fine = await client().executeIsolated("print(42)");
      expect(fine).toMatchObject({ stdout: "42\n", exitCode: 0 });
      expect((await client().executeIsolated("raise SystemExit(7)")).exitCode).toBe(7);
      await expect(client().executeIsolated("1", { language: "cobol" })).rejects.toThrow(ValidationError);
      await expect(client().executeIsolated("1", { signal: AbortSignal.abort() })).rejects.toMatchObject({
        name: "AbortError",
      });
      const controller = new AbortController();
      const { signal } = controller;
      const steps: string[] = [];
      const onStep = (step: string): void => void steps.push(step);
      const aborted = client().executeIsolated("import time\ntime.sleep(60)", { signal, onStep });
      await expect.poll(() => steps).toContain("execute");
      controller.abort();
      await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
      await expect.poll(count).toBe(before);
    });
  });
}
