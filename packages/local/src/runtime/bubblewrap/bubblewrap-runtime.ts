import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Writable } from "node:stream";
import { controlGroupDirectories, openControlGroups, removeStaleGroups } from "../host/control-group.js";
import { InstanceDirectory } from "../host/instance-directory.js";
import { InstanceGuard } from "../host/instance-guard.js";
import { letGo } from "../host/let-go.js";
import type { MachineGroup, MachineGroups } from "../host/machine-group.js";
import { MemoryWatchdog } from "../host/memory-watchdog.js";
import type { Mount } from "../host/mount.js";
import { openFilesLimit } from "../host/open-files.js";
import { isAliveIdentity } from "../host/process-identity.js";
import { type MachineUids, UidLeases } from "../host/uid-lease.js";
import type { RuntimeOptions } from "../runtime-options.js";
import type { Machine, MachineSpec, RuntimeReport, SandboxRuntime } from "../sandbox-runtime.js";
import { listenForAgent } from "./agent-socket.js";
import { bubblewrapArguments, descriptors } from "./bubblewrap-arguments.js";
import { BubblewrapMachine } from "./bubblewrap-machine.js";
import { probeBubblewrap } from "./bubblewrap-probe.js";
import { type EgressSocket, listenForEgress } from "./egress-socket.js";
import { becomeMachine } from "./enter-groups.js";
import { directoriesToView } from "./host-views.js";
import { inheritableDescriptors } from "./inherited-descriptors.js";
import { agentTimeZone, egressInside, type MachineImage, prepareMachineImage } from "./machine-image.js";
import { seccompProgram } from "./system-calls/seccomp-filter.js";
import { mapUids, uidInside } from "./user-namespace.js";
import { become, diskCount, WritableRoot } from "./writable-root.js";

const clearAgainMs = 1000;

/** Machines made of Linux namespaces by bubblewrap: started in tens of milliseconds, sharing the host's kernel. */
export class BubblewrapRuntime implements SandboxRuntime {
  readonly name = "bubblewrap";
  #foundation: Promise<Foundation> | undefined;
  #cleared: Promise<void> | undefined;
  #clearing: NodeJS.Timeout | undefined;

  constructor(private readonly options: RuntimeOptions = {}) {}

  probe(): Promise<RuntimeReport> {
    return probeBubblewrap(this.options.withoutSystemCallFilter ?? false);
  }

  /** Runs once. If it failed, the start of the first machine runs it again. */
  removeLeftovers(): Promise<void> {
    this.#cleared ??= removeLeftovers().then(
      (isAllGone) => {
        if (!isAllGone) this.#clearAgain();
      },
      (error: unknown) => {
        this.#cleared = undefined;
        throw error;
      },
    );
    return this.#cleared;
  }

  /** Removes leftovers again later: those of killed machines can be removed only when their last processes have ended. */
  #clearAgain(): void {
    this.#clearing = setTimeout(() => {
      void removeLeftovers()
        .catch(() => false)
        .then((isAllGone) => {
          if (!isAllGone && this.#clearing !== undefined) this.#clearAgain();
        });
    }, clearAgainMs).unref();
  }

  async start(spec: MachineSpec): Promise<Machine> {
    const foundation = await this.#laidFoundation();
    const { groups, uids } = foundation;
    const cleanups: (() => Promise<void>)[] = [];
    // A random name, not the sandbox's id: every user of the host can read the names of control groups and sockets, and
    // anyone who knows the id can open the sandbox's previews.
    const name = randomBytes(8).toString("hex");
    try {
      const lent = await uids?.take();
      const release = async (): Promise<void> => {
        if (lent) await uids?.release(lent);
      };
      cleanups.push(release);
      const group = await groups.create(name, spec.limits, diskCount(foundation.root !== undefined));
      // Release the uids only after the control group is removed: until then processes with these uids may still run.
      cleanups[0] = () => group.remove().then(release);
      const egress = await openEgress(spec, foundation.directory, name, lent?.code);
      if (egress) cleanups.push(() => egress.close());
      const files = await foundation.directory.handOut(spec.files ?? [], name, lent?.code);
      cleanups.push(() => files.remove());
      const machine = await this.#spawn(spec, foundation, {
        name,
        uids: lent,
        group,
        egress,
        files: files.mounts,
        cleanups,
      });
      await machine.booted();
      return machine;
    } catch (error) {
      for (const cleanup of cleanups.reverse()) await cleanup();
      throw error;
    }
  }

  /** Lays the foundation once. If that failed, the next call tries again. */
  #laidFoundation(): Promise<Foundation> {
    this.#foundation ??= this.removeLeftovers()
      .then(layFoundation)
      .catch((error: unknown) => {
        this.#foundation = undefined;
        throw error;
      });
    return this.#foundation;
  }

  async #spawn(spec: MachineSpec, foundation: Foundation, own: MachineOwn): Promise<BubblewrapMachine> {
    const { directory, image, root, seccompFile, strayDescriptors } = foundation;
    const { name, uids, group, egress, files, cleanups } = own;
    const { layers = [], disk, keepIn } = spec;
    if (!root && (layers.length > 0 || disk !== undefined || keepIn !== undefined))
      throw new Error("this kernel allows no overlay mounts here, which this sandbox is made of");
    const seccomp = seccompFile === undefined ? undefined : await open(seccompFile, "r");
    const socket = await listenForAgent(directory.socket(name));
    const entry = root?.enter({
      uids,
      diskMb: spec.limits.diskMb,
      layers,
      disk,
      keepIn,
    });
    try {
      const [program = "", ...args] = [
        ...becomeMachine(group.memberFiles, strayDescriptors),
        ...(entry?.command ?? become(uids?.agent)),
        ...["bwrap", "--args", String(descriptors.arguments), "--"],
        ...image.command,
      ];
      const child = spawn(program, args, {
        cwd: "/",
        env: {
          PATH: process.env.PATH ?? "/usr/bin:/bin",
          CLOUD_SANDBOX_AGENT_CONFIG: agentConfig(spec, uids),
          ...entry?.environment,
        },
        stdio: [
          ...(["ignore", "ignore", "pipe", socket.descriptor, "pipe", seccomp?.fd ?? "ignore"] as const),
          ...(["pipe", uids ? "pipe" : "ignore"] as const),
        ],
      });
      if (this.options.holdsProcess === false) letGo(child);
      const options = bubblewrapArguments({
        image,
        views: root?.views,
        limits: spec.limits,
        environment: machineEnvironment(spec, image),
        figures: group.figures,
        egress: egress && { source: egress.path, target: egressInside.socket },
        files,
        hasSeccomp: seccomp !== undefined,
        hasOwnUids: uids !== undefined,
      });
      const pipes: readonly unknown[] = child.stdio;
      const told = pipes[descriptors.arguments] as Writable;
      // Ignore write errors: if bubblewrap exits before it has read its options, booting fails with the reason.
      told.on("error", () => undefined).end(options.map((option) => `${option}\0`).join(""));
      const information = pipes[descriptors.information] as Readable;
      const gate = pipes[descriptors.uidsMapped];
      return new BubblewrapMachine({
        spec,
        child,
        information,
        mapUids: uids && gate instanceof Writable ? (init) => mapUids(init, uids, gate) : undefined,
        socketPath: socket.path,
        group,
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
    await this.#cleared?.catch(() => undefined);
    clearTimeout(this.#clearing);
    this.#clearing = undefined;
    const foundation = await this.#foundation?.catch(() => undefined);
    this.#foundation = undefined;
    await foundation?.groups.close();
    await foundation?.uids?.close();
    await foundation?.directory.remove();
    await foundation?.guard.release();
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

/** What all machines of this process share; made with the first machine. */
interface Foundation {
  readonly directory: InstanceDirectory;
  readonly image: MachineImage;
  readonly root: WritableRoot | undefined;
  readonly groups: MachineGroups;
  readonly guard: InstanceGuard;
  readonly uids: UidLeases | undefined;
  readonly seccompFile: string | undefined;
  readonly strayDescriptors: readonly number[];
}

/** Removes what killed processes left behind. Resolves with true if no control group of theirs remains. */
async function removeLeftovers(): Promise<boolean> {
  await InstanceDirectory.removeStale();
  const remaining = await removeStaleGroups(isAliveIdentity);
  // Keep the uid leases of an instance whose groups are left: its processes may still run with these uids.
  if (process.getuid?.() === 0)
    await UidLeases.removeStale((owner) => isAliveIdentity(owner) || remaining.has(owner));
  return remaining.size === 0;
}

async function layFoundation(): Promise<Foundation> {
  const isRoot = process.getuid?.() === 0;
  const directory = InstanceDirectory.plan();
  // Start the guard first: it removes everything made below if this process is killed.
  const guard = new InstanceGuard(directory, await controlGroupDirectories(directory.instance));
  await directory.make();
  const controlGroups = await openControlGroups(directory.instance);
  const program = seccompProgram(process.arch, { countsAllMemory: controlGroups !== undefined });
  const seccompFile = program && join(directory.path, "seccomp");
  if (program && seccompFile) await writeFile(seccompFile, program);
  const root = await WritableRoot.open(directory.inMemory, isRoot);
  const groups = controlGroups ?? (await MemoryWatchdog.open(join(directory.path, "figures")));
  const image = await prepareMachineImage(directory.path, isRoot, root);
  await root?.view(directoriesToView([...image.mounts.map(({ source }) => source), groups.figures]));
  return {
    directory,
    image,
    root,
    guard,
    groups,
    uids: isRoot ? new UidLeases(directory.instance) : undefined,
    seccompFile,
    strayDescriptors: inheritableDescriptors(),
  };
}

async function openEgress(
  { egress }: MachineSpec,
  directory: InstanceDirectory,
  name: string,
  uid: number | undefined,
): Promise<EgressSocket | undefined> {
  if (!egress) return undefined;
  const place = { hidden: `${directory.socket(name)}.egress`, path: directory.egressSocket(name), uid };
  return listenForEgress(place, egress);
}

const home = "/home/sandbox";

/** Without LANG: with it, the init's shell would read locale files, which code in the sandbox may have written before a stop. */
function machineEnvironment(spec: MachineSpec, image: MachineImage): Record<string, string> {
  return {
    PATH: `${home}/.local/bin:${image.path}`,
    ...agentTimeZone,
    HOME: home,
    USER: "sandbox",
    LOGNAME: "sandbox",
    SHELL: "/bin/bash",
    TERM: "xterm-256color",
    // pip refuses system-wide installs because of a marker file in the host's `/usr`. In a sandbox they are safe,
    // because packages are installed into the sandbox's own layer.
    PIP_BREAK_SYSTEM_PACKAGES: "1",
    // With a read-only `/usr`, packages must be installed into the home directory: pip does that by itself, npm needs
    // this setting.
    ...(image.disk === undefined && { NPM_CONFIG_PREFIX: `${home}/.local` }),
    MACHINE_MEMORY_KB: String(spec.limits.memoryMb * 1024),
    // The limit of processes. The init and the agent count towards it.
    MACHINE_PROCESSES: String(spec.limits.maxProcesses),
    // The limit of open files. Lower for an ordinary user: the kernel counts the memory of open files, and of
    // descriptors sent through sockets, towards that user's limits on the host.
    MACHINE_FILES: String(Math.min(process.getuid?.() === 0 ? 4096 : 512, openFilesLimit)),
  };
}

/** The agent's configuration. It holds values of a template's variables, so the agent inherits it in its environment: all users of the host can read command lines. */
function agentConfig(spec: MachineSpec, uids: MachineUids | undefined): string {
  return JSON.stringify({
    sandboxId: spec.id,
    publicKey: spec.publicKey,
    listen: { fd: descriptors.agentSocket },
    template: spec.template,
    limits: spec.limits,
    languages: spec.languages,
    ...(spec.egress && { egress: egressInside }),
    environment: spec.environment,
    ownVariables: Object.keys(agentTimeZone),
    ...(uids && { runProgramsAs: { uid: uidInside.code, gid: uidInside.code } }),
    ownsMachine: true,
  });
}
