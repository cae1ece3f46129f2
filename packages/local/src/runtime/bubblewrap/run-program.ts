import { oneShotProgram } from "@cloud-sandbox/server-kit/execution";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import { ProgramNeedsAgent, ProgramNotStarted } from "../host-problem.js";
import type { ProgramSpec } from "../sandbox-runtime.js";
import { driversInside } from "./machine-image.js";
import type { PreparedHost } from "./prepared-host.js";
import { environmentOf, hasEarly, StartedProgram, type StartOptions, workspace } from "./program-start.js";
import type { WaitingPrograms } from "./waiting-programs.js";

/** Milliseconds within which a program that waited must begin: its interpreter is there, but the machine may be busy. */
const waitedStartLimitMs = 10_000;

/**
 * Runs a program in an isolated machine without an agent: one that waits, or a new one. The program has only one uid, and
 * bubblewrap itself is process 1, so that all processes end with the program.
 */
export async function runProgram(
  spec: ProgramSpec,
  host: PreparedHost,
  waiting: WaitingPrograms,
  options: StartOptions,
): Promise<Outcome> {
  if (spec.egress && !host.proxyPorts.isUsable)
    throw new ProgramNotStarted("the ports of the egress proxy cannot be opened for it.");
  const { language, code, filename } = spec;
  const program = oneShotProgram(language, code, { drivers: driversInside, workspace, filename });
  if (!program) throw new ProgramNeedsAgent("its code needs an agent.");
  const endCall = waiting.beginCall();
  try {
    const mayWait = spec.egress !== undefined && !hasEarly(spec.environment, program);
    const taken = mayWait ? await waiting.take(spec) : undefined;
    if (taken) {
      try {
        return await taken.run(spec, waitedStartLimitMs);
      } catch (error) {
        // It has ended just now, or does not answer. Nobody need know that it was there.
        if (!(error instanceof ProgramNotStarted) || spec.signal.aborted) throw error;
      }
    }
    const planned = { ...spec, environment: environmentOf(spec) };
    const started = await StartedProgram.start(planned, program, host, options);
    return await started.run(spec);
  } finally {
    endCall();
  }
}
