import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import {
  authorityEnvironment,
  type OneShotProgram,
  oneShotProgram,
  proxyEnvironment,
} from "@cloud-sandbox/server-kit/execution";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import type { LateCleanups } from "../host/late-cleanup.js";
import type { MachineGroup } from "../host/machine-group.js";
import { isOutOfDescriptors } from "../host/open-files.js";
import type { MachineUids } from "../host/uid-lease.js";
import { ProgramNeedsAgent, ProgramNotStarted } from "../program-not-started.js";
import type { ProgramPlan, ProgramSpec } from "../sandbox-runtime.js";
import { bubblewrapArguments, environmentArguments } from "./bubblewrap-arguments.js";
import type { OpenPorts } from "./egress/proxy-ports.js";
import type { PreparedHost } from "./foundation.js";
import { launchCommand } from "./launch/launch-command.js";
import type { ProgramPipe } from "./launch/program-pipes.js";
import {
  type ProgramProcess,
  type ProgramStart,
  programDescriptors,
  spawnProgram,
} from "./launch/program-process.js";
import { limitVariables, programEnvironment } from "./machine-environment.js";
import { driversInside, egressInside, limitsScript } from "./machine-image.js";
import { ProgramRun } from "./program-run.js";
import { diskCount } from "./writable-root.js";

const workspace = "/workspace";
/** Copies the files that the home directory begins with, and becomes the program. */
const filledHome = 'cp -R "$1/." "$HOME"; shift; exec "$@"';

interface StartOptions {
  /** Whether this process goes on while the program runs. */
  readonly holdsProcess: boolean;
  readonly late: LateCleanups;
}

/**
 * Runs a program in an isolated machine without an agent. The program has only one uid, and bubblewrap itself is
 * process 1, so that all processes end with the program.
 */
export async function runProgram(
  spec: ProgramSpec,
  host: PreparedHost,
  options: StartOptions,
): Promise<Outcome> {
  if (spec.egress && !host.proxyPorts.isUsable)
    throw new ProgramNotStarted("the ports of the egress proxy cannot be opened for it.");
  const { language, code, filename } = spec;
  const program = oneShotProgram(language, code, { drivers: driversInside, workspace, filename });
  if (!program) throw new ProgramNeedsAgent("its code needs an agent.");
  const started = await StartedProgram.start(spec, program, host, options);
  return started.run(spec);
}

/** Starts the interpreter of a program without variables whose code is not known yet. Only for languages that have a driver. */
export async function startAhead(
  plan: ProgramPlan,
  host: PreparedHost,
  options: StartOptions,
): Promise<StartedProgram> {
  const program = oneShotProgram(plan.language, "", { drivers: driversInside, workspace });
  if (!program?.hasDriver) throw new Error(`${plan.language} cannot be started before its code is known`);
  const planned = { ...plan, environment: {}, egress: () => undefined };
  return StartedProgram.start(planned, program, host, options);
}

type PlannedProgram = ProgramPlan & Pick<ProgramSpec, "environment" | "egress" | "onRemains">;

/** A program that waits for its code, and what it has on the host. `run` or `discard` releases all of it. */
export class StartedProgram {
  #onConnection: ProgramSpec["egress"];
  /** The ports of the egress proxy, opened as soon as the program has a network. */
  readonly #ports: Promise<OpenPorts | undefined>;

  private constructor(
    private readonly plan: PlannedProgram,
    private readonly own: ProgramOwn & {
      readonly process: ProgramProcess;
      readonly report: ProgramPipe | undefined;
    },
    private readonly host: PreparedHost,
    private readonly late: LateCleanups,
  ) {
    const accept = (connection: Socket): void => this.#onConnection?.(connection);
    this.#ports = own.process.init.then((init) =>
      own.hasNetwork && init ? host.proxyPorts.open(init, accept) : undefined,
    );
    this.#ports.catch(() => undefined);
  }

  static async start(
    plan: PlannedProgram,
    program: OneShotProgram,
    host: PreparedHost,
    { holdsProcess, late }: StartOptions,
  ): Promise<StartedProgram> {
    const { groups, uids, root, pipes } = host;
    const hasNetwork = plan.egress !== undefined;
    const [isReady] = await Promise.all([host.launcher?.isReady(), pipes.prepare()]);
    const launcher = isReady ? host.launcher : undefined;
    const [leased, name] = [uids?.take(), randomBytes(8).toString("hex")];
    let group: MachineGroup | undefined;
    try {
      group = await groups.create(name, plan.limits, diskCount(root !== undefined));
      const stdout = await pipes.take();
      const stderr = await pipes.take();
      const report = launcher && (await pipes.take());
      const own = { program, hasNetwork, uids: leased, group, stdout, stderr, holdsProcess };
      const start = programStart(plan, host, own);
      const process = launcher && report ? launcher.start(start, report) : spawnProgram(start);
      return new StartedProgram(plan, { ...own, process, report }, host, late);
    } catch (error) {
      const cleanUp = async (): Promise<void> => {
        await group?.remove();
        if (leased) uids?.release(leased);
      };
      await late.attempt(`The control group of program ${plan.id}`, cleanUp, plan.onRemains);
      if (isOutOfDescriptors(error))
        throw new ProgramNotStarted("this server cannot open any more files now", { cause: error });
      throw error;
    }
  }

  /** Resolves when it no longer takes this process to start it. */
  get requested(): Promise<void> {
    return this.own.process.requested;
  }

  /** Whether a program can be run in it that has these settings. */
  suits({ id, language, environment, limits, egress }: ProgramSpec): boolean {
    const { plan } = this;
    return (
      this.own.process.isRunning &&
      egress !== undefined &&
      id === plan.id &&
      language === plan.language &&
      Object.keys(environment).length === 0 &&
      Object.entries(plan.limits).every(([name, value]) => Reflect.get(limits, name) === value)
    );
  }

  /** Runs the program. Rejects with {@link ProgramNotStarted} only if none of its code has run. */
  async run(spec: ProgramSpec): Promise<Outcome> {
    const { program, process, stdout, stderr, report, group, uids: leased } = this.own;
    const { kernel, pipes, uids } = this.host;
    this.#onConnection = spec.egress;
    const run = new ProgramRun({ spec, program, process, stdout, stderr, group, kernel, ports: this.#ports });
    try {
      return await run.outcome();
    } finally {
      for (const pipe of [stdout, stderr, report])
        if (pipe) await (run.hasFreePipes ? pipes.giveBack(pipe.path) : pipes.discard(pipe.path));
      // Release the uid last: until the control group is removed, processes with this uid may still run.
      const cleanUp = async (): Promise<void> => {
        await run.endStuck();
        await group.remove();
        if (leased) uids?.release(leased);
      };
      await this.late.attempt(`The control group of program ${spec.id}`, cleanUp, spec.onRemains);
    }
  }

  /** Ends a program that was not run. */
  async discard(): Promise<void> {
    const nothing = { code: "", timeoutSeconds: 1, signal: AbortSignal.abort() };
    await this.run({ ...this.plan, ...nothing }).catch(() => undefined);
  }
}

const keptProfiles = new WeakMap<PreparedHost, readonly string[]>();

function keptProfile(host: PreparedHost, make: () => string[]): readonly string[] {
  const kept = keptProfiles.get(host) ?? make();
  keptProfiles.set(host, kept);
  return kept;
}

interface ProgramOwn {
  readonly program: OneShotProgram;
  /** Whether it can reach the egress proxy. */
  readonly hasNetwork: boolean;
  readonly uids: MachineUids | undefined;
  readonly group: MachineGroup;
  readonly stdout: ProgramPipe;
  readonly stderr: ProgramPipe;
  readonly holdsProcess: boolean;
}

function programStart(spec: PlannedProgram, host: PreparedHost, own: ProgramOwn): ProgramStart {
  const { programImage: image, root, ownRoot, seccompFile, strayDescriptors, directory } = host;
  const { program, hasNetwork, group, stdout, stderr, holdsProcess } = own;
  // Use one uid for all processes: there is no agent to protect from the code.
  const uids = own.uids && { agent: own.uids.code, code: own.uids.code };
  const { memoryFiles } = group;
  const placed = root?.placeable([...image.mounts, memoryFiles]) ?? [];
  const viewed = [...image.mounts, ...image.masks, memoryFiles].map(({ source }) => source);
  const entry = root?.enter({ uids, diskMb: spec.limits.diskMb, layers: [], placed, viewed, ownRoot });
  const limited = `${limitsScript}exec "$@"`;
  const launch = launchCommand(
    {
      ...{ memberFiles: group.memberFiles, strayDescriptors, limits: uids && spec.limits },
      ...{ entry, uid: uids?.code },
    },
    host.launcher !== undefined,
  );
  const command = [
    ...["bwrap", "--args", String(programDescriptors.arguments)],
    // Unset a variable that does not exist, only to have the instance directory on the command line, by which the
    // programs of a killed server are found.
    ...["--unsetenv", directory.path, "--"],
    // The kernel counts all processes of an ordinary user together, except in a user namespace. So set the limits there.
    ...(uids ? [] : ["/bin/sh", "-c", limited, "limits"]),
    ...(image.homeFiles === undefined ? [] : ["/bin/sh", "-c", filledHome, "home", image.homeFiles]),
    ...[program.command, ...program.args],
  ];
  const profile = (): string[] =>
    bubblewrapArguments({
      ...{ image, views: root?.views, limits: spec.limits, placed, ownRoot, memoryFiles },
      ...{ environment: {}, egress: undefined, files: [], isInit: false, identities: "user" },
      descriptors: { seccomp: seccompFile === undefined ? undefined : programDescriptors.seccomp },
    });
  const options = [
    // With everything in the tree, bubblewrap makes the same mounts for all programs, whatever their limits.
    ...(placed.length > 0 ? keptProfile(host, profile) : profile()),
    ...environmentArguments({
      LANG: "C.UTF-8",
      ...programEnvironment(image),
      ...(uids ? {} : limitVariables(spec.limits)),
      ...(hasNetwork && proxyEnvironment(egressInside)),
      ...(hasNetwork && image.authorities && authorityEnvironment(image.authorities)),
      ...spec.environment,
      ...program.env,
      CLOUD_SANDBOX_EXECUTION_ID: spec.id,
    }),
  ];
  return { launch, command, options, seccompFile, stdout, stderr, holdsProcess };
}
