import type { ProgramSpec } from "@cloud-sandbox/server-kit/handlers";
import { expect, test } from "vitest";
import { ProgramNeedsAgent, ProgramNotStarted } from "../../src/runtime/program-not-started.js";
import { OneShotPrograms } from "../../src/sandboxes/one-shot-programs.js";

const nothing = (): void => undefined;

/**
 * Runs a program once for each reason why it cannot be started without an agent. No sandbox can be created either.
 * Resolves with the lines that were logged.
 */
async function logged(...reasons: readonly Error[]): Promise<readonly string[]> {
  const lines: string[] = [];
  const left = [...reasons];
  const template = {
    limits: { memoryMb: 1, diskMb: 1 },
    languages: [{ language: "python" }],
    built: undefined,
  };
  const parts = {
    runtime: { run: () => Promise.reject(left.shift()) },
    fleet: { template: () => template, create: () => Promise.reject(new Error("no sandbox")) },
    egress: { open: () => ({ accept: () => undefined }), setRules: () => undefined, close: () => undefined },
    queue: { enter: async () => ({ room: { handOver: nothing, release: nothing }, leave: nothing }) },
    log: (line: string) => lines.push(line),
  };
  const programs = new OneShotPrograms(parts as never);
  const spec = {
    ...{
      code: "1",
      language: "python",
      timeoutSeconds: 1,
      environment: {},
      egress: { internetAccess: false },
    },
    ...{ signal: new AbortController().signal, onStart: () => undefined },
  };
  for (const _ of reasons)
    await expect(programs.run(spec as unknown as ProgramSpec)).rejects.toThrow("no sandbox");
  return lines;
}

test("the log says once for each reason why programs without a sandbox cannot be started", async () => {
  const full = new ProgramNotStarted("the disk is full");
  expect(await logged(full, full, new ProgramNotStarted("no process is left"))).toEqual([
    "Programs that need no agent get a sandbox with one, which takes longer. The program was not started: the disk is full",
    "Programs that need no agent get a sandbox with one, which takes longer. The program was not started: no process is left",
  ]);
});

test("the log says nothing of programs that need a sandbox", async () => {
  expect(await logged(new ProgramNeedsAgent("its code needs an agent."))).toEqual([]);
});
