import { randomBytes } from "node:crypto";
import { type OneShotProgram, oneShotProgram, proxyEnvironment } from "@cloud-sandbox/server-kit/execution";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import type { LateCleanups } from "../host/late-cleanup.js";
import type { MachineGroup } from "../host/machine-group.js";
import type { MachineUids } from "../host/uid-lease.js";
import { ProgramNeedsAgent, ProgramNotStarted } from "../program-not-started.js";
import type { ProgramSpec } from "../sandbox-runtime.js";
import { bubblewrapArguments, environmentArguments } from "./bubblewrap-arguments.js";
import type { Foundation } from "./foundation.js";
import { launchCommand } from "./launch/launch-command.js";
import type { ProgramPipe } from "./launch/program-pipes.js";
import { type ProgramStart, programDescriptors, spawnProgram } from "./launch/program-process.js";
import { limitVariables, programEnvironment } from "./machine-environment.js";
import { driversInside, egressInside, limitsScript } from "./machine-image.js";
import { ProgramRun } from "./program-run.js";
import type { Init } from "./user-namespace.js";
import { diskCount } from "./writable-root.js";

const workspace = "/workspace";

/**
 * Runs a program in an isolated machine without an agent. The program has only one uid, and bubblewrap itself is
 * process 1, so that all processes end with the program.
 */
export async function runProgram(
  spec: ProgramSpec,
  foundation: Foundation,
  { holdsProcess, late }: { readonly holdsProcess: boolean; readonly late: LateCleanups },
): Promise<Outcome> {
  const { groups, uids, root, pipes, proxyPorts } = foundation;
  if (spec.egress && !proxyPorts.isUsable)
    throw new ProgramNotStarted("the ports of the egress proxy cannot be opened for it.");
  // Refuse such a program before pipes are opened: only a program that has started closes them.
  const program = oneShotProgram(spec.language, spec.code, { drivers: driversInside, workspace });
  if (!program) throw new ProgramNeedsAgent("its code needs an agent.");
  const [isReady] = await Promise.all([
    foundation.launcher?.isReady(),
    pipes.prepare(),
    spec.egress && proxyPorts.prepare(),
  ]);
  const launcher = isReady ? foundation.launcher : undefined;
  const [lent, name] = [uids?.take(), randomBytes(8).toString("hex")];
  let group: MachineGroup | undefined;
  let run: ProgramRun | undefined;
  try {
    group = await groups.create(name, spec.limits, diskCount(root !== undefined));
    const stdout = await pipes.take();
    const stderr = await pipes.take();
    const report = launcher && (await pipes.take());
    const own = { program, uids: lent, group, stdout, stderr, holdsProcess };
    const start = programStart(spec, foundation, own);
    const process = launcher && report ? launcher.start(start, report) : spawnProgram(start);
    const { egress } = spec;
    const openPorts = egress && ((init: Init) => proxyPorts.open(init, egress));
    run = new ProgramRun({ spec, program, process, stdout, stderr, group, openPorts });
    try {
      return await run.outcome();
    } finally {
      for (const pipe of [stdout, stderr, report])
        if (pipe) await (run.hasFreePipes ? pipes.giveBack(pipe.path) : pipes.discard(pipe.path));
    }
  } finally {
    // Release the uid last: until the control group is removed, processes with this uid may still run.
    const cleanUp = async (): Promise<void> => {
      await run?.endStuck();
      await group?.remove();
      if (lent) uids?.release(lent);
    };
    await late.attempt(`The control group of program ${spec.id}`, cleanUp, spec.onRemains);
  }
}

const keptProfiles = new WeakMap<Foundation, readonly string[]>();

function keptProfile(foundation: Foundation, make: () => string[]): readonly string[] {
  const kept = keptProfiles.get(foundation) ?? make();
  keptProfiles.set(foundation, kept);
  return kept;
}

interface ProgramOwn {
  readonly program: OneShotProgram;
  readonly uids: MachineUids | undefined;
  readonly group: MachineGroup;
  readonly stdout: ProgramPipe;
  readonly stderr: ProgramPipe;
  readonly holdsProcess: boolean;
}

function programStart(spec: ProgramSpec, foundation: Foundation, own: ProgramOwn): ProgramStart {
  const { programImage: image, root, ownRoot, seccompFile, strayDescriptors, directory } = foundation;
  const { program, group, stdout, stderr, holdsProcess } = own;
  // Use one uid for all processes: there is no agent to protect from the code.
  const uids = own.uids && { agent: own.uids.code, code: own.uids.code };
  const { figures } = group;
  const placed = root?.placeable([...image.mounts, figures]) ?? [];
  const viewed = [...image.mounts, ...image.masks, figures].map(({ source }) => source);
  const entry = root?.enter({ uids, diskMb: spec.limits.diskMb, layers: [], placed, viewed, ownRoot });
  const limited = `${limitsScript}exec "$@"`;
  const launch = launchCommand(
    {
      ...{ memberFiles: group.memberFiles, strayDescriptors, limits: uids && spec.limits },
      ...{ entry, uid: uids?.code },
    },
    foundation.launcher !== undefined,
  );
  const command = [
    ...["bwrap", "--args", String(programDescriptors.arguments)],
    // Unset a variable that does not exist, only to have the instance directory on the command line, by which the
    // programs of a killed server are found.
    ...["--unsetenv", directory.path, "--"],
    // The kernel counts all processes of an ordinary user together, except in a user namespace. So set the limits there.
    ...(uids ? [] : ["/bin/sh", "-c", limited, "limits"]),
    ...[program.command, ...program.args],
  ];
  const profile = (): string[] =>
    bubblewrapArguments({
      ...{ image, views: root?.views, limits: spec.limits, placed, ownRoot, figures },
      ...{ environment: {}, egress: undefined, files: [], isInit: false, identities: "user" },
      descriptors: { seccomp: seccompFile === undefined ? undefined : programDescriptors.seccomp },
    });
  const options = [
    // With everything in the tree, bubblewrap makes the same mounts for all programs, whatever their limits.
    ...(placed.length > 0 ? keptProfile(foundation, profile) : profile()),
    ...environmentArguments({
      LANG: "C.UTF-8",
      ...programEnvironment(image),
      ...(uids ? {} : limitVariables(spec.limits)),
      ...(spec.egress && proxyEnvironment(egressInside)),
      ...spec.environment,
      ...program.env,
      CLOUD_SANDBOX_EXECUTION_ID: spec.id,
    }),
  ];
  return { launch, command, options, seccompFile, stdout, stderr, holdsProcess };
}
