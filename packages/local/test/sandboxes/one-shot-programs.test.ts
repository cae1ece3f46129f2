import type { ProgramSpec } from "@cloud-sandbox/server-kit/handlers";
import { expect, test, vi } from "vitest";
import { ProgramNeedsAgent, ProgramNotStarted } from "../../src/runtime/host-problem.js";
import { OneShotPrograms } from "../../src/sandboxes/one-shot-programs.js";

const nothing = (): void => undefined;

/** One-shot programs where none runs without an agent, and a program. `parts` replaces what else they work with. */
function withoutAgents({ fleet, ...parts }: { readonly fleet: object; readonly [part: string]: unknown }) {
  const template = {
    limits: { memoryMb: 1, diskMb: 1 },
    languages: [{ language: "python" }],
    built: undefined,
  };
  const programs = new OneShotPrograms({
    runtime: {},
    fleet: { template: () => template, ...fleet },
    egress: { open: () => ({ accept: () => undefined }), setRules: () => undefined, close: () => undefined },
    queue: { enter: async () => ({ capacity: { transfer: nothing, release: nothing }, leave: nothing }) },
    cooldowns: { requireOver: nothing },
    ...parts,
  } as never);
  const spec = {
    ...{ code: "1", language: "python", timeoutSeconds: 1, environment: {} },
    ...{ egress: { internetAccess: false }, signal: new AbortController().signal, onStart: nothing },
  };
  return { programs, spec: spec as unknown as ProgramSpec };
}

/**
 * Runs a program once for each reason why it cannot be started without an agent. No sandbox can be created either.
 * Resolves with the lines that were logged.
 */
async function logged(...reasons: readonly Error[]): Promise<readonly string[]> {
  const lines: string[] = [];
  const left = [...reasons];
  const { programs, spec } = withoutAgents({
    runtime: { run: () => Promise.reject(left.shift()) },
    fleet: { create: () => Promise.reject(new Error("no sandbox")) },
    log: (line: string) => lines.push(line),
  });
  for (const _ of reasons) await expect(programs.run(spec)).rejects.toThrow("no sandbox");
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

test("a program whose agent could not be asked, for want of a descriptor, has not begun", async () => {
  const machine = {};
  const failure = Object.assign(new Error("connect EMFILE"), { code: "EMFILE" });
  const { programs, spec } = withoutAgents({
    fleet: { create: async () => ({ id: "1", machine }), has: () => false },
    agents: { execute: () => Promise.reject(failure) },
  });
  const onStart = vi.fn();
  const refused = programs.run({ ...spec, onStart });
  await expect(refused).rejects.toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
  expect(onStart).not.toHaveBeenCalled();
});
