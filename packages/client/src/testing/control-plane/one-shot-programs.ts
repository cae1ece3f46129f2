import {
  languageNamed,
  languageNames,
  neverSleeps,
  outcomeFields,
  type ProgramAnswer,
  type ProgramReader,
  type ProgramSpec,
  richFields,
  secretOnWire,
  valueFields,
} from "@cloud-sandbox/server-kit/handlers";
import { startCode } from "../agent/execution-handlers.js";
import type { RunningProgram } from "../agent/running-program.js";
import type { MemoryFleet } from "./memory-fleet.js";

/** Runs one program in a sandbox that is gone afterwards. */
export async function runProgram(fleet: MemoryFleet, spec: ProgramSpec): Promise<ProgramAnswer> {
  const { code, language, environment, workdir, timeoutSeconds, signal } = spec;
  const { template, egress, limits, minIsolation } = spec;
  const sandbox = await fleet.create({
    template,
    egress,
    limits,
    minIsolation,
    environment: {},
    metadata: {},
    mounts: {},
    secrets: spec.secrets,
    sleep: neverSleeps,
    timeoutSeconds: timeoutSeconds + 60,
    name: undefined,
    idempotency: undefined,
  });
  try {
    const body = {
      code,
      language,
      env: environment,
      timeout: timeoutSeconds,
      ...(workdir !== undefined && { workdir }),
    };
    const program = await startCode(fleet.reachable(sandbox.id), body, signal, { isFresh: true });
    spec.onStart();
    const [outcome] = await Promise.all([program.outcome, forwardOutput(program, spec.reader)]);
    return {
      id: sandbox.id,
      isolation: sandbox.isolation,
      ...(sandbox.secrets && { secrets: sandbox.secrets.map(secretOnWire) }),
      ...outcomeFields(outcome),
      ...valueFields(outcome),
      language: languageNamed(language, Object.values(languageNames)).name,
      ...richFields(outcome, spec.wantsRich),
    };
  } finally {
    if (fleet.has(sandbox.id)) await fleet.delete(sandbox.id);
  }
}

/** Passes the output to the reader as the program writes it. */
async function forwardOutput(program: RunningProgram, reader: ProgramReader | undefined): Promise<void> {
  if (!reader) return;
  reader.begin();
  const forward = async (type: "stdout" | "stderr"): Promise<void> => {
    for await (const frame of program[type].frames(type)) await reader.take(frame);
  };
  await Promise.all([forward("stdout"), forward("stderr")]);
}
