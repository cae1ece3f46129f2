import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { type Readable, Writable } from "node:stream";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import { forgetTrials } from "../host/host-trial.js";
import type { InstanceDirectory } from "../host/instance-directory.js";
import { LateCleanups } from "../host/late-cleanup.js";
import type { MachineGroup } from "../host/machine-group.js";
import type { Mount } from "../host/mount.js";
import type { MachineUids } from "../host/uid-lease.js";
import { unrefChild } from "../host/unref-child.js";
import type { RuntimeOptions } from "../runtime-options.js";
import type {
  Machine,
  MachineSpec,
  ProgramPlan,
  ProgramSpec,
  RuntimeReport,
  SandboxRuntime,
} from "../sandbox-runtime.js";
import { listenForAgent } from "./agent-process.js";
import { bubblewrapArguments, descriptors, machineEnvironment } from "./bubblewrap-arguments.js";
import { BubblewrapMachine } from "./bubblewrap-machine.js";
import { overlayObstacle, probeBubblewrap } from "./bubblewrap-probe.js";
import { type EgressSocket, listenForEgress } from "./egress/proxy-ports.js";
import { launchCommand } from "./launch/launch-command.js";
import { agentTimeZone, egressInside, type MachineImage } from "./machine-image.js";
import { type PreparedHost, prepareHost, removeLeftovers } from "./prepared-host.js";
import { startAhead } from "./program-start.js";
import { runProgram } from "./run-program.js";
import { identitiesOf, mapUids, uidsInside } from "./user-namespace.js";
import { WaitingPrograms } from "./waiting-programs.js";
import { diskCount } from "./writable-root.js";

const removalRetryMs = 1000;

/** Machines made of Linux namespaces by bubblewrap: started in tens of milliseconds, sharing the host's kernel. */
export class BubblewrapRuntime implements SandboxRuntime {
  readonly name = "bubblewrap";
  readonly withoutVolumes =
    process.getuid?.() === 0
      ? undefined
      : "they need a server that root started, because only root can limit their size";
  #host: Promise<PreparedHost> | undefined;
  #removal: Promise<void> | undefined;
  #removalTimer: NodeJS.Timeout | undefined;
  #preparing: Promise<void> | undefined;
  readonly #waiting = new WaitingPrograms(async (plan) =>
    startAhead(plan, await this.#getHost(), this.#startOptions),
  );
  readonly #late: LateCleanups;

  constructor(private readonly options: RuntimeOptions = {}) {
    this.#late = new LateCleanups(options.log ?? (() => undefined));
  }

  probe(): Promise<RuntimeReport> {
    return probeBubblewrap(this.options);
  }

  /** The removal runs once. If it failed, the next call, such as the start of the first machine, repeats it. */
  removeLeftovers(): Promise<void> {
    this.#removal ??= removeLeftovers().then(
      (isAllGone) => {
        if (!isAllGone) this.#removeLeftoversLater();
      },
      (error: unknown) => {
        this.#removal = undefined;
        throw error;
      },
    );
    return this.#removal;
  }

  /** Removes leftovers again later: control groups of killed machines can be removed only when their last processes have ended. */
  #removeLeftoversLater(): void {
    this.#removalTimer = setTimeout(() => {
      void removeLeftovers()
        .catch(() => false)
        .then((isAllGone) => {
          if (!isAllGone && this.#removalTimer !== undefined) this.#removeLeftoversLater();
        });
    }, removalRetryMs).unref();
  }

  prepare(): Promise<void> {
    this.#preparing = this.#getHost().then(({ placeAgent }) => placeAgent());
    return this.#preparing;
  }

  async start(spec: MachineSpec): Promise<Machine> {
    const endCall = this.#waiting.beginCall();
    try {
      return await this.#start(spec);
    } finally {
      endCall();
    }
  }

  async #start(spec: MachineSpec): Promise<Machine> {
    const host = await this.#getHost();
    const { groups, uids } = host;
    await host.placeAgent();
    const cleanups: (() => Promise<void>)[] = [];
    // A random name, not the sandbox's id: every user of the host can read the names of control groups and sockets, and
    // anyone who knows the id can open the sandbox's previews.
    const name = randomBytes(8).toString("hex");
    try {
      const leased = host.rootInside ? uids?.takeRange() : uids?.take();
      const release = (): void => {
        if (leased) uids?.release(leased);
      };
      cleanups.push(async () => release());
      const group = await groups.create(name, spec.limits, diskCount(host.root !== undefined));
      // Release the uids only after the control group is removed: until then processes with these uids may still run.
      cleanups[0] = () => group.remove().then(release);
      const egress = await openEgress(spec, host.directory, name, leased?.code);
      if (egress) cleanups.push(() => egress.close());
      const files = await host.directory.handOut(spec.files ?? [], name, leased?.code);
      cleanups.push(() => files.remove());
      const machine = await this.#spawn(spec, host, {
        name,
        uids: leased,
        group,
        egress,
        files: files.mounts,
        cleanups,
      });
      await machine.booted();
      return machine;
    } catch (error) {
      for (const cleanup of cleanups.reverse()) await cleanup();
      // This host may allow less than it did when it was tried.
      await forgetTrials();
      throw error;
    }
  }

  expectPrograms(plan: ProgramPlan): void {
    this.#waiting.expect(plan);
  }

  get expectedPrograms(): number {
    return this.#waiting.size;
  }

  async run(program: ProgramSpec): Promise<Outcome> {
    return runProgram(program, await this.#getHost(), this.#waiting, this.#startOptions);
  }

  get #startOptions() {
    const { holdsProcess = true } = this.options;
    return { holdsProcess, late: this.#late };
  }

  /** What machines share on the host. The first call prepares it. If that failed, the next call tries again. */
  #getHost(): Promise<PreparedHost> {
    this.#host ??= this.removeLeftovers()
      .then(() => prepareHost(this.options))
      .catch((error: unknown) => {
        this.#host = undefined;
        throw error;
      });
    return this.#host;
  }

  async #spawn(spec: MachineSpec, host: PreparedHost, own: MachineOwn): Promise<BubblewrapMachine> {
    const { directory, strayDescriptors } = host;
    const { root } = host.rootInside ?? host;
    const { name, uids, group, egress, files, cleanups } = own;
    const { layers = [], isImage, disk, keepIn, mounts = [] } = spec;
    const { image: usual, importedImage } = host.rootInside ?? host;
    const plain = isImage ? importedImage : usual;
    const image = plain && spec.authority !== undefined ? host.trusting(plain, spec.authority) : plain;
    if (!image)
      throw new Error(
        root
          ? "imported images need a Node.js that has the same loader as this machine's shell"
          : `imported images need overlay mounts: ${overlayObstacle()}`,
      );
    if (!root && (layers.length > 0 || disk !== undefined || keepIn !== undefined || mounts.length > 0))
      throw new Error(`the sandbox's files need overlay mounts: ${overlayObstacle()}`);
    const writesToHost = mounts.some(
      ({ readOnly, source, isCopy }) => !readOnly && !isCopy && "path" in source,
    );
    const seccompFile = writesToHost ? host.hostWritersSeccompFile() : host.seccompFile;
    if (writesToHost && seccompFile === undefined)
      throw new Error(
        "without a system call filter, directories of this machine can only be mounted read-only",
      );
    const seccomp = seccompFile === undefined ? undefined : await open(seccompFile, "r");
    const socket = await listenForAgent(directory.socket(name));
    try {
      const entry = root?.enter({
        uids,
        diskMb: spec.limits.diskMb,
        layers,
        isImage,
        disk,
        keepIn,
        volumes: mounts,
      });
      const { command, environment } = launchCommand(
        {
          memberFiles: group.memberFiles,
          strayDescriptors,
          limits: undefined,
          entry,
          uid: uids?.agent,
        },
        host.launcher !== undefined,
      );
      const [program, ...launching] = command;
      const args = [...launching, "bwrap", "--args", String(descriptors.arguments), "--", ...image.command];
      const child = spawn(program, args, {
        cwd: "/",
        env: {
          PATH: process.env.PATH ?? "/usr/bin:/bin",
          CLOUD_SANDBOX_AGENT_CONFIG: agentConfig(spec, uids, image),
          ...environment,
        },
        stdio: [
          ...(["ignore", "ignore", "pipe", socket.descriptor, "pipe", seccomp?.fd ?? "ignore"] as const),
          ...(["pipe", uids ? "pipe" : "ignore"] as const),
        ],
      });
      // Without a free descriptor, Node.js has made no pipes either.
      if (child.pid === undefined) throw (await once(child, "error"))[0];
      if (this.options.holdsProcess === false) unrefChild(child);
      const options = bubblewrapArguments({
        image,
        views: root?.views,
        limits: spec.limits,
        environment: machineEnvironment(spec.limits, image, isImage ? spec.environment?.PATH : undefined),
        memoryFiles: group.memoryFiles,
        egress: egress && { source: egress.path, target: egressInside.socket },
        files,
        volumes: root?.volumeMounts(mounts) ?? [],
        descriptors: {
          information: descriptors.information,
          seccomp: seccomp && descriptors.seccomp,
        },
        isInit: true,
        identities: identitiesOf(uids),
      });
      const pipes: readonly unknown[] = child.stdio;
      const optionsPipe = pipes[descriptors.arguments] as Writable;
      // Ignore write errors: if bubblewrap exits before it has read its options, booting fails with the reason.
      optionsPipe.on("error", () => undefined).end(options.map((option) => `${option}\0`).join(""));
      const information = pipes[descriptors.information] as Readable;
      const gate = pipes[descriptors.uidsMapped];
      return new BubblewrapMachine({
        spec,
        child,
        information,
        mapUids: uids && gate instanceof Writable ? (init) => mapUids(init, uids, gate) : undefined,
        socketPath: socket.path,
        group,
        kernel: host.kernel,
        root,
        cleanups,
      });
    } finally {
      // Close this process's copy of the socket right away: while both hold it, a connection could be accepted here
      // instead of by the agent.
      socket.release();
      await seccomp?.close();
    }
  }

  async close(): Promise<void> {
    await this.#removal?.catch(() => undefined);
    clearTimeout(this.#removalTimer);
    this.#removalTimer = undefined;
    await this.#waiting.close();
    // Files that are still being placed would keep the directory from being removed.
    await this.#preparing?.catch(() => undefined);
    const host = await this.#host?.catch(() => undefined);
    this.#host = undefined;
    this.#late.close();
    if (!host) return;
    const { groups, guard, kernel, launcher, proxyPorts, uids } = host;
    kernel.close();
    // No machine and no program is left: remove their files while the helpers end.
    guard.removeDirectory();
    await Promise.all([proxyPorts.close(), launcher?.close(), groups.close().then(() => uids?.close())]);
    await guard.release();
  }
}

/** The resources that one machine has on the host. */
interface MachineOwn {
  /** A random name that tells nothing about the sandbox. */
  readonly name: string;
  readonly uids: MachineUids | undefined;
  readonly group: MachineGroup;
  readonly egress: EgressSocket | undefined;
  readonly files: readonly Mount[];
  /** Cleanups to run when no process of the machine is left. */
  readonly cleanups: readonly (() => Promise<void>)[];
}

async function openEgress(
  { egress }: MachineSpec,
  directory: InstanceDirectory,
  name: string,
  uid: number | undefined,
): Promise<EgressSocket | undefined> {
  if (!egress) return undefined;
  const listener = { hidden: `${directory.socket(name)}.egress`, path: directory.egressSocket(name), uid };
  return listenForEgress(listener, egress);
}

/** The agent's configuration. It holds values of a template's variables, so the agent inherits it in its environment: all users of the host can read command lines. */
function agentConfig(
  spec: MachineSpec,
  uids: MachineUids | undefined,
  { authorities, homeFiles }: MachineImage,
): string {
  const { code } = uidsInside(identitiesOf(uids));
  const { uid, gid } = (uids?.isRange && spec.user) || { uid: code, gid: code };
  return JSON.stringify({
    sandboxId: spec.id,
    publicKey: spec.publicKey,
    listen: { fd: descriptors.agentSocket },
    template: spec.template,
    limits: spec.limits,
    languages: spec.languages,
    desktop: spec.desktop,
    ...(spec.egress && { egress: egressInside, authorities }),
    // A sandbox that was stopped may have removed them.
    homeFiles: spec.disk === undefined ? homeFiles : undefined,
    environment: spec.environment,
    workdir: spec.workdir,
    ownVariables: Object.keys(agentTimeZone),
    ...(uids && { runProgramsAs: { uid, gid } }),
    ownsMachine: true,
  });
}
