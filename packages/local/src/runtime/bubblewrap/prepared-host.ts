import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  controlGroupDirectories,
  instancesWithGroups,
  openControlGroups,
  removeStaleGroups,
} from "../host/control-group.js";
import { InstanceDirectory } from "../host/instance-directory.js";
import { InstanceGuard } from "../host/instance-guard.js";
import { KernelWatch } from "../host/kernel-watch.js";
import type { MachineGroups } from "../host/machine-group.js";
import { MemoryWatchdog } from "../host/memory-watchdog.js";
import { UidLeases } from "../host/uid-lease.js";
import type { RuntimeOptions } from "../runtime-options.js";
import { ProxyPorts } from "./egress/proxy-ports.js";
import { allowsOwnDevices, directoriesToView } from "./host-files/host-views.js";
import { MadeFiles } from "./host-files/made-files.js";
import { inheritableDescriptors, openLauncher } from "./launch/launch-command.js";
import { ProgramLauncher } from "./launch/program-launcher.js";
import { ProgramPipes } from "./launch/program-pipes.js";
import { type MachineImage, type MachineImages, prepareMachineImage } from "./machine-image.js";
import { prepareRootInside, type RootInside } from "./root-inside.js";
import { seccompProgram } from "./system-calls/seccomp-filter.js";
import { WritableRoot } from "./writable-root.js";

/** What all machines of this process share; made with the first machine. */
export interface PreparedHost {
  readonly directory: InstanceDirectory;
  readonly image: MachineImage;
  /** What machines of imported images have instead; undefined if they cannot be started here. */
  readonly importedImage: MachineImage | undefined;
  /** What programs without an agent have instead. */
  readonly programImage: MachineImage;
  readonly root: WritableRoot | undefined;
  /** What bubblewrap starts from as its root for programs without an agent; undefined if that is the host's root. */
  readonly ownRoot: string | undefined;
  /** What machines have instead if code is root inside; undefined if it is not. Programs without an agent never have it. */
  readonly rootInside: RootInside | undefined;
  readonly groups: MachineGroups;
  readonly kernel: KernelWatch;
  readonly guard: InstanceGuard;
  readonly uids: UidLeases | undefined;
  readonly seccompFile: string | undefined;
  /** The filter of machines that write to directories of the host. Made by the first call. */
  readonly hostWritersSeccompFile: () => string | undefined;
  /** See {@link MachineImages.trusting}. */
  readonly trusting: MachineImages["trusting"];
  /** See {@link MachineImages.placeAgent}. */
  readonly placeAgent: () => Promise<void>;
  readonly strayDescriptors: readonly number[];
  /** Undefined where `launcher.pl` does not work, so that shells start machines and programs; see {@link openLauncher}. */
  readonly launcher: ProgramLauncher | undefined;
  /** The pipes for programs that run without an agent. */
  readonly pipes: ProgramPipes;
  readonly proxyPorts: ProxyPorts;
}

/** Removes what killed processes left behind. Resolves with true if no control group of theirs remains. */
export async function removeLeftovers(): Promise<boolean> {
  await InstanceDirectory.removeStale();
  const isRoot = process.getuid?.() === 0;
  const owners = [...instancesWithGroups(), ...(isRoot ? UidLeases.owners() : [])];
  const living = await InstanceDirectory.living(new Set(owners));
  // Instances that began meanwhile are not among the owners, and live.
  const isAlive = (instance: string): boolean => living.has(instance) || !owners.includes(instance);
  const remaining = await removeStaleGroups(isAlive);
  // Keep the uid leases of an instance whose control groups remain: its processes may still run with these uids.
  if (isRoot) UidLeases.removeStale((owner) => isAlive(owner) || remaining.has(owner));
  return remaining.size === 0;
}

export async function prepareHost({
  rootInside: isWanted = false,
  ...options
}: RuntimeOptions): Promise<PreparedHost> {
  const isRoot = process.getuid?.() === 0;
  const directory = InstanceDirectory.plan();
  // Start the guard first: it removes everything made below if this process is killed.
  const guard = new InstanceGuard(directory, controlGroupDirectories(directory.instance));
  directory.make();
  const strayDescriptors = inheritableDescriptors();
  const controlGroups = await openControlGroups(directory.instance);
  const countsAllMemory = controlGroups !== undefined;
  const filter = (name: string, refusesSetUid: boolean): string | undefined => {
    const program = seccompProgram(process.arch, { countsAllMemory, refusesSetUid });
    const file = join(directory.path, name);
    if (program) writeFileSync(file, program);
    return program && file;
  };
  const seccompFile = filter("seccomp", false);
  let hostWriters: string | undefined;
  const root = await WritableRoot.open(directory.inMemory, isRoot);
  const hasDevices = root !== undefined && isRoot && (await allowsOwnDevices(isRoot));
  const pipes = join(directory.path, "pipes");
  // Start to make these files first: it takes as long as all that follows.
  const made = new MadeFiles({
    pipes: ProgramPipes.plan(pipes),
    devices: hasDevices ? root.devices : undefined,
    skeleton: root?.usrSkeleton,
  });
  const launcher = new ProgramLauncher(directory.path, directory.socket("launcher"), strayDescriptors);
  const proxyPorts = new ProxyPorts(directory.path);
  const groups = controlGroups ?? (await MemoryWatchdog.open(join(directory.path, "memory-files")));
  const images = await prepareMachineImage(directory.path, isRoot, root, options);
  const { image, importedImage, programImage, trusting, placeAgent } = images;
  const rootInside =
    isWanted && root
      ? await prepareRootInside(join(directory.inMemory, "root-inside"), root, images)
      : undefined;
  const viewed = directoriesToView([...image.mounts.map(({ source }) => source), groups.memoryFiles]);
  const devices = hasDevices ? { directory: root.devices, made: () => made.devices() } : undefined;
  for (const each of [root, rootInside?.root]) await each?.view(viewed, devices);
  const hasLauncher = await openLauncher(root);
  if (!hasLauncher) await launcher.close();
  const ownRoot = isRoot && hasLauncher && root ? await openOwnRoot(root, programImage, groups) : undefined;
  await made.all();
  return {
    directory,
    image,
    importedImage,
    programImage,
    root,
    ownRoot,
    rootInside,
    guard,
    groups,
    kernel: new KernelWatch(),
    uids: isRoot ? new UidLeases(directory.instance) : undefined,
    seccompFile,
    hostWritersSeccompFile: () => {
      hostWriters ??= filter("seccomp-host-writers", true);
      return hostWriters;
    },
    trusting,
    placeAgent,
    strayDescriptors,
    launcher: hasLauncher ? launcher : undefined,
    pipes: new ProgramPipes(pipes, () => made.pipes()),
    proxyPorts,
  };
}

/** Makes a root for bubblewrap to start from. Undefined if programs need mounts that are not in it, or a trial fails. */
async function openOwnRoot(
  root: WritableRoot,
  { mounts, masks }: MachineImage,
  { memoryFiles }: MachineGroups,
): Promise<string | undefined> {
  const { views } = root;
  const sources = [...[...mounts, ...masks].map(({ source }) => source), memoryFiles];
  if (views?.dev === undefined || sources.some((source) => views.seen(source) === source)) return undefined;
  const ownRoot = root.makeOwnRoot();
  return (await openLauncher(root, ownRoot)) ? ownRoot : undefined;
}
