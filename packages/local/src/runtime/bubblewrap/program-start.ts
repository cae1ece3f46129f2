import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { Writable } from "node:stream";
import { type LoneProgram, loneProgram, proxyEnvironment } from "@cloud-sandbox/server-kit/execution";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import type { LateCleanups } from "../host/late-cleanup.js";
import { letGo } from "../host/let-go.js";
import type { MachineGroup } from "../host/machine-group.js";
import type { MachineUids } from "../host/uid-lease.js";
import { ProgramNeedsAgent, ProgramNotStarted } from "../program-not-started.js";
import type { ProgramSpec } from "../sandbox-runtime.js";
import { bubblewrapArguments } from "./bubblewrap-arguments.js";
import type { Foundation } from "./foundation.js";
import { launchCommand } from "./launch/launch-command.js";
import { limitVariables, programEnvironment } from "./machine-environment.js";
import { driversInside, egressInside, limitsScript } from "./machine-image.js";
import type { ProgramPipe } from "./program-pipes.js";
import { ProgramRun, programDescriptors } from "./program-run.js";
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
  const program = loneProgram(spec.language, spec.code, { drivers: driversInside, workspace });
  if (!program) throw new ProgramNeedsAgent("its code needs an agent.");
  const [lent, name] = [uids?.take(), randomBytes(8).toString("hex")];
  let group: MachineGroup | undefined;
  let run: ProgramRun | undefined;
  try {
    group = await groups.create(name, spec.limits, diskCount(root !== undefined));
    const stdout = await pipes.take();
    const stderr = await pipes.take();
    run = start(spec, foundation, { program, uids: lent, group, stdout, stderr, holdsProcess });
    try {
      return await run.outcome();
    } finally {
      for (const { path } of [stdout, stderr])
        await (run.hasFreePipes ? pipes.giveBack(path) : pipes.discard(path));
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

interface ProgramOwn {
  readonly program: LoneProgram;
  readonly uids: MachineUids | undefined;
  readonly group: MachineGroup;
  readonly stdout: ProgramPipe;
  readonly stderr: ProgramPipe;
  readonly holdsProcess: boolean;
}

function start(spec: ProgramSpec, foundation: Foundation, own: ProgramOwn): ProgramRun {
  const { image, root, seccompFile, strayDescriptors, directory } = foundation;
  const { program, group, stdout, stderr } = own;
  // Use one uid for all processes: there is no agent to protect from the code.
  const uids = own.uids && { agent: own.uids.code, code: own.uids.code };
  const entry = root?.enter({ uids, diskMb: spec.limits.diskMb, layers: [] });
  const limited = `${limitsScript}exec "$@"`;
  const { command, environment } = launchCommand(
    {
      ...{ memberFiles: group.memberFiles, strayDescriptors, limits: uids && spec.limits },
      ...{ entry, uid: uids?.code },
    },
    foundation.hasLauncher,
  );
  const [head, ...launching] = command;
  const args = [
    ...launching,
    ...["bwrap", "--args", String(programDescriptors.arguments)],
    // Unset a variable that does not exist, only to have the instance directory on the command line, by which the
    // programs of a killed server are found.
    ...["--unsetenv", directory.path, "--"],
    // The kernel counts all processes of an ordinary user together, except in a user namespace. So set the limits there.
    ...(uids ? [] : ["/bin/sh", "-c", limited, "limits"]),
    ...[program.command, ...program.args],
  ];
  const seccomp = seccompFile === undefined ? undefined : openSync(seccompFile, "r");
  try {
    const child = spawn(head, args, {
      cwd: "/",
      env: {
        PATH: process.env.PATH ?? "/usr/bin:/bin",
        ...environment,
      },
      stdio: [
        ...(["ignore", "ignore", "ignore", "pipe", stdout.write, stderr.write] as const),
        ...(["pipe", seccomp ?? "ignore", "pipe"] as const),
      ],
    });
    if (!own.holdsProcess) letGo(child);
    const options = bubblewrapArguments({
      image,
      views: root?.views,
      limits: spec.limits,
      environment: {
        LANG: "C.UTF-8",
        ...programEnvironment(image),
        ...(uids ? {} : limitVariables(spec.limits)),
        ...(spec.egress && proxyEnvironment(egressInside)),
        ...spec.environment,
        ...program.env,
        CLOUD_SANDBOX_EXECUTION_ID: spec.id,
      },
      figures: group.figures,
      egress: undefined,
      files: [],
      descriptors: {
        information: programDescriptors.information,
        seccomp: seccomp === undefined ? undefined : programDescriptors.seccomp,
      },
      isInit: false,
      hasOwnUids: false,
    });
    const pipes: readonly unknown[] = child.stdio;
    const told = pipes[programDescriptors.arguments];
    // Ignore write errors: a process that exits before it has read its options is noticed by its exit.
    if (told instanceof Writable)
      told.on("error", () => undefined).end(options.map((option) => `${option}\0`).join(""));
    const { egress } = spec;
    const openPorts = egress && ((init: Init) => foundation.proxyPorts.open(init, egress));
    return new ProgramRun({ spec, program, child, stdout, stderr, group, openPorts });
  } finally {
    if (seccomp !== undefined) closeSync(seccomp);
  }
}
