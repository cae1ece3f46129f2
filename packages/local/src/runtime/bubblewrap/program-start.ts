import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import {
  authorityEnvironment,
  type OneShotProgram,
  oneShotProgram,
  proxyEnvironment,
  sourceBytes,
} from "@cloud-sandbox/server-kit/execution";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import { hostPackages } from "../host/host-packages.js";
import { programState } from "../host/host-trial.js";
import type { LateCleanups } from "../host/late-cleanup.js";
import type { MachineGroup } from "../host/machine-group.js";
import { isOutOfDescriptors } from "../host/open-files.js";
import type { MachineUids } from "../host/uid-lease.js";
import { ProgramNotStarted } from "../host-problem.js";
import type { ProgramPlan, ProgramSpec } from "../sandbox-runtime.js";
import {
  bubblewrapArguments,
  environmentArguments,
  limitVariables,
  programEnvironment,
} from "./bubblewrap-arguments.js";
import type { OpenPorts } from "./egress/proxy-ports.js";
import { launchCommand } from "./launch/launch-command.js";
import type { ProgramPipe } from "./launch/program-pipes.js";
import {
  type ProgramProcess,
  type ProgramStart,
  programDescriptors,
  spawnProgram,
} from "./launch/program-process.js";
import { driversInside, egressInside, limitsScript } from "./machine-image.js";
import type { PreparedHost } from "./prepared-host.js";
import { ProgramRun } from "./program-run.js";
import { diskCount } from "./writable-root.js";

export const workspace = "/workspace";
/** Copies the files that the home directory begins with, and becomes the program. */
const filledHome = 'cp -R "$1/." "$HOME"; shift; exec "$@"';

export interface StartOptions {
  /** Whether this process goes on while the program runs. */
  readonly holdsProcess: boolean;
  readonly late: LateCleanups;
}

/** The variables of a program, with the one that names its execution. */
export const environmentOf = ({ id, environment }: ProgramSpec): Record<string, string> => ({
  ...environment,
  CLOUD_SANDBOX_EXECUTION_ID: id,
});

/** Starts a program whose code, id and variables are not known yet. Only for languages that have a driver. */
export async function startAhead(
  plan: ProgramPlan,
  host: PreparedHost,
  options: StartOptions,
): Promise<StartedProgram> {
  const program = oneShotProgram(plan.language, "", { drivers: driversInside, workspace });
  if (!program?.hasDriver) throw new Error(`${plan.language} cannot be started before its code is known`);
  const planned = { ...plan, id: "that waits", environment: {}, egress: () => undefined };
  return StartedProgram.start(planned, program, host, options, hostState(program, host));
}

type PlannedProgram = Pick<
  ProgramSpec,
  "id" | "language" | "limits" | "environment" | "egress" | "onRemains"
>;

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
    /** The {@link hostState} that one that waits was started with. */
    private readonly startState: string | undefined,
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
    startState?: string,
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
      // It may end before it has read them: its exit is noticed.
      process.control.on("error", () => undefined).write(sourceBytes(program.sources));
      return new StartedProgram(plan, { ...own, process, report }, host, late, startState);
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

  /** Resolves when it has begun, or will not. */
  get begun(): Promise<unknown> {
    return this.#ports.catch(() => undefined);
  }

  /** Resolves when it has ended. */
  get ended(): Promise<unknown> {
    return this.own.process.exit;
  }

  /** Whether it still waits, and a new one would get the same interpreter and packages. */
  get isUsable(): boolean {
    return this.own.process.isRunning && hostState(this.own.program, this.host) === this.startState;
  }

  /** Runs the program. Rejects with {@link ProgramNotStarted} only if none of its code has run. */
  async run(spec: ProgramSpec, startLimitMs?: number): Promise<Outcome> {
    const { program, process, stdout, stderr, report, group, uids: leased } = this.own;
    const { kernel, pipes, uids } = this.host;
    this.#onConnection = spec.egress;
    const environment = without(this.plan.environment, environmentOf(spec));
    const run = new ProgramRun({
      spec,
      program,
      environment,
      process,
      stdout,
      stderr,
      group,
      kernel,
      ports: this.#ports,
      startLimitMs,
    });
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
    const nothing = { id: "", code: "", timeoutSeconds: 1, signal: AbortSignal.abort() };
    await this.run({ ...this.plan, ...nothing }).catch(() => undefined);
  }
}

/** Changes with an upgrade of the interpreter, with packages that the host gets or loses, and when the clock is set. */
function hostState({ command }: OneShotProgram, { programImage }: PreparedHost): string {
  const program = command === "node" ? process.execPath : command;
  const startedAt = Math.round((Date.now() - performance.now()) / 2000);
  return [hostPackages(), startedAt, ...programState(program, programImage.path)].join(" ");
}

/** The variables that `had` lacks. */
const without = (
  had: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !Object.hasOwn(had, name)));

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

/** Whether there are variables that the interpreter reads only at its start. */
export const hasEarly = (environment: ProgramSpec["environment"], { readAtStart }: OneShotProgram): boolean =>
  Object.keys(environment).some((name) => readAtStart.test(name));

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
      memberFiles: group.memberFiles,
      strayDescriptors,
      limits: uids && spec.limits,
      entry,
      uid: uids?.code,
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
      image,
      views: root?.views,
      limits: spec.limits,
      placed,
      ownRoot,
      memoryFiles,
      environment: {},
      egress: undefined,
      files: [],
      isInit: false,
      identities: "user",
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
    }),
  ];
  return { launch, command, options, seccompFile, stdout, stderr, holdsProcess };
}
