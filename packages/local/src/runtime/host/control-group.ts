import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type MachineLimits, mostMemoryMb } from "../sandbox-runtime.js";
import type { MachineGroups } from "./machine-group.js";
import { signalIfThere } from "./process-tree.js";
import { textOf } from "./text-of.js";

/**
 * Kernel control groups, which limit the memory, processes and CPU of a whole machine instead of one process.
 *
 * Both versions are supported, because both are in use: v1 (and hybrid) has one tree for each controller, v2 one tree for
 * all. Where this process may write to neither, limits fall back to rlimits, tmpfs sizes and the memory watchdog.
 */
export interface ControlGroups extends MachineGroups {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
}

export type Controller = "memory" | "pids" | "cpu" | "freezer";

const root = "/sys/fs/cgroup";
const family = "cloud-sandbox";

/** Opens the control groups that this process may use. Undefined if there are none; nothing has changed on the host then. */
export async function openControlGroups(
  instance: string,
  base: string = root,
): Promise<ControlGroups | undefined> {
  return (await openUnified(instance, base)) ?? (await openPerController(instance, base, ownGroups()));
}

/** The facts that decide which control groups this process may use, apart from its rights. */
export function controlGroupState(): readonly string[] {
  return ["/proc/self/cgroup", join(root, "cgroup.controllers")].map(textOf);
}

/** All directories that may hold an instance's groups, in both versions and all controllers. They need not exist. */
export function controlGroupDirectories(instance: string, base: string = root): string[] {
  return familyDirectories(base).map((directory) => join(directory, instance));
}

function familyDirectories(base: string): string[] {
  const own = ownGroups();
  return [join(base, family), ...controllersV1.map((name) => join(base, name, own.get(name) ?? "", family))];
}

/** The instances that have groups. */
export function instancesWithGroups(base: string = root): readonly string[] {
  return [...new Set(familyDirectories(base).filter(isControlGroup).flatMap(subdirectories))];
}

/**
 * Kills the processes and removes the groups of dead instances. Resolves with the instances whose groups could not all be
 * removed. Groups that this process may not write to are skipped: another user made them, and their processes are that
 * user's, so the kernel would refuse to signal them (EPERM). Only that user, or root, can clean them up.
 */
export async function removeStaleGroups(
  isAlive: (instance: string) => boolean,
  base: string = root,
): Promise<ReadonlySet<string>> {
  const remaining = new Set<string>();
  const families = familyDirectories(base).filter(isControlGroup);
  const stale: { readonly instance: string; readonly path: string }[] = [];
  for (const family of families)
    for (const instance of subdirectories(family))
      if (!isAlive(instance) && isWritable(join(family, instance)))
        stale.push({ instance, path: join(family, instance) });
  // Kill and thaw in all hierarchies before any removal: a process frozen in one keeps its groups in the others busy.
  for (const { path } of stale) for (const group of groupsBelow(path)) await killMembers(group);
  for (const { path } of stale) for (const group of groupsBelow(path)) await thaw(group);
  for (const { instance, path } of stale) if (!(await removeTree(path))) remaining.add(instance);
  for (const family of families) removeEmpty(family);
  return remaining;
}

/** The types of file system that control groups are, of both versions. */
const controlGroupTypes: readonly number[] = [0x63677270, 0x27e0eb];

/** Whether a directory is a control group. In another directory, a file named `cgroup.procs` could list any processes. */
function isControlGroup(directory: string): boolean {
  try {
    return controlGroupTypes.includes(statfsSync(directory).type);
  } catch {
    return false;
  }
}

async function killMembers(group: string): Promise<void> {
  const members = await readFile(join(group, "cgroup.procs"), "utf8").catch(() => "");
  // The kernel shows a process of another pid namespace as 0, and a signal to 0 would reach this process's own group.
  for (const pid of members.split("\n").map(Number)) if (pid > 0) signalIfThere(pid, "SIGKILL");
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds that processes may take to freeze. Each does so when its system call ends, or can be interrupted. */
const freezeLimitMs = 5000;
const longestFreezePauseMs = 20;

interface Freezer {
  write(isOn: boolean): Promise<void>;
  /** Whether all processes are frozen. */
  isFrozen(): Promise<boolean>;
}

/** Freezes a group and waits until it is frozen, or thaws it. A group that does not freeze in time is thawed again. */
async function setFrozen(frozen: boolean, freezer: Freezer): Promise<void> {
  await freezer.write(frozen);
  if (!frozen) return;
  const until = performance.now() + freezeLimitMs;
  for (let pause = 0; !(await freezer.isFrozen()); pause = Math.min(pause + 1, longestFreezePauseMs)) {
    if (performance.now() > until) {
      await freezer.write(false);
      throw new Error(
        `A process of the sandbox did not stop within ${freezeLimitMs / 1000} s, because the kernel works for it, so the sandbox cannot be paused.`,
      );
    }
    await delay(pause);
  }
}

/** Thaws a group. A process that was killed while frozen dies only after that. */
async function thaw(group: string): Promise<void> {
  await writeFile(join(group, "freezer.state"), "THAWED", { flag: "r+" }).catch(ignoreMissing);
  await writeFile(join(group, "cgroup.freeze"), "0", { flag: "r+" }).catch(ignoreMissing);
}

/** All groups below one, the deepest first. */
function groupsBelow(directory: string): string[] {
  return subdirectories(directory).flatMap((name) => {
    const group = join(directory, name);
    return [...groupsBelow(group), group];
  });
}

async function openUnified(instance: string, base: string): Promise<ControlGroups | undefined> {
  const wanted = ["memory", "pids", "cpu"] as const;
  const available = textOf(join(base, "cgroup.controllers")).trim().split(" ");
  if (!wanted.every((name) => available.includes(name))) return undefined;
  const familyDirectory = join(base, family);
  const directory = join(familyDirectory, instance);
  const enable = wanted.map((name) => `+${name}`).join(" ");
  try {
    set(base, "cgroup.subtree_control", enable);
    mkdirSync(directory, { recursive: true });
    set(familyDirectory, "cgroup.subtree_control", enable);
    set(directory, "cgroup.subtree_control", enable);
  } catch {
    await removeTree(directory);
    return undefined;
  }
  return {
    version: 2,
    memoryFiles: directory,
    controllers: [...wanted, "freezer"],
    async create(name, limits, disks) {
      const group = join(directory, name);
      const [machine, helpers] = [join(group, "machine"), join(group, "helpers")];
      for (const directory of [group, machine, helpers]) mkdirSync(directory);
      set(group, "memory.max", memoryBytes(limits, disks));
      // The file is missing if the kernel does not account swap.
      setIfThere(group, "memory.swap.max", 0);
      set(group, "pids.max", limits.maxProcesses);
      set(group, "cpu.max", `${Math.round(limits.vcpu * cpuPeriod)} ${cpuPeriod}`);
      set(group, "cpu.weight", 50);
      return {
        memberFiles: [join(machine, "cgroup.procs")],
        helperFiles: [join(helpers, "cgroup.procs")],
        canFreeze: true,
        countsFiles: true,
        adopt: alreadyMember,
        memoryFiles: { source: group, target: root },
        freeze: (frozen) =>
          setFrozen(frozen, {
            write: (isOn) => writeFile(join(machine, "cgroup.freeze"), isOn ? "1" : "0"),
            isFrozen: async () => /^frozen 1$/m.test(await readFile(join(machine, "cgroup.events"), "utf8")),
          }),
        outOfMemoryKills: () => readCounter(join(group, "memory.events"), "oom_kill"),
        remove: async () => {
          for (const part of [machine, helpers, group]) await removeGroup(part);
        },
      };
    },
    close: async () => {
      await removeTree(directory, familyDirectory);
    },
  };
}

/** Writes a setting. Synchronously, because a write to a file of the kernel takes less time than handing it to another thread. */
function set(group: string, file: string, value: number | string): void {
  writeFileSync(join(group, file), String(value));
}

function setIfThere(group: string, file: string, value: number): void {
  try {
    set(group, file, value);
  } catch (error) {
    ignoreMissing(error as NodeJS.ErrnoException);
  }
}

const controllersV1: readonly Controller[] = ["memory", "pids", "cpu", "freezer"];

async function openPerController(
  instance: string,
  base: string,
  own: ReadonlyMap<string, string>,
): Promise<ControlGroups | undefined> {
  const controllers: Controller[] = [];
  const directories = new Map<Controller, string>();
  for (const name of controllersV1) {
    const parent = join(base, name, own.get(name) ?? "");
    const directory = join(parent, family, instance);
    try {
      accessSync(parent, constants.W_OK);
      mkdirSync(directory, { recursive: true });
    } catch {
      continue;
    }
    controllers.push(name);
    directories.set(name, directory);
  }
  const [memory, pids] = [directories.get("memory"), directories.get("pids")];
  if (memory === undefined || pids === undefined) {
    for (const directory of directories.values()) await removeTree(directory, dirname(directory));
    return undefined;
  }
  return {
    version: 1,
    memoryFiles: memory,
    controllers,
    async create(name, limits, disks) {
      const group = new Map(
        [...directories].map(([controller, directory]) => [controller, join(directory, name)]),
      );
      for (const directory of group.values()) mkdirSync(directory);
      const memoryGroup = join(memory, name);
      set(memoryGroup, "memory.limit_in_bytes", memoryBytes(limits, disks));
      // v1 counts TCP socket buffers apart from the memory limit.
      setIfThere(memoryGroup, "memory.kmem.tcp.limit_in_bytes", 32 * 1024 * 1024);
      // The kernel refuses a limit on memory plus swap before the memory limit is set.
      setIfThere(memoryGroup, "memory.memsw.limit_in_bytes", memoryBytes(limits, disks));
      set(join(pids, name), "pids.max", limits.maxProcesses);
      const cpu = group.get("cpu");
      if (cpu !== undefined) {
        set(cpu, "cpu.cfs_period_us", cpuPeriod);
        set(cpu, "cpu.cfs_quota_us", Math.round(limits.vcpu * cpuPeriod));
        set(cpu, "cpu.shares", 512);
      }
      return {
        // `tasks`, not `cgroup.procs`: moving a whole process takes a kernel-wide lock, about 10 ms each time.
        memberFiles: [...group.values()].map((directory) => join(directory, "tasks")),
        helperFiles: [...group].flatMap(([name, directory]) =>
          name === "freezer" ? [] : [join(directory, "tasks")],
        ),
        canFreeze: group.has("freezer"),
        countsFiles: true,
        adopt: alreadyMember,
        memoryFiles: { source: memoryGroup, target: join(root, "memory") },
        async freeze(frozen) {
          const freezer = group.get("freezer");
          if (freezer === undefined)
            throw new Error("This host has no freezer control groups, which pausing needs.");
          const state = join(freezer, "freezer.state");
          await setFrozen(frozen, {
            write: (isOn) => writeFile(state, isOn ? "FROZEN" : "THAWED"),
            // The state is FREEZING while a process still runs.
            isFrozen: async () => (await readFile(state, "utf8")) === "FROZEN\n",
          });
        },
        outOfMemoryKills: () => readCounter(join(memoryGroup, "memory.oom_control"), "oom_kill"),
        remove: async () => {
          await Promise.all([...group.values()].map(removeGroup));
        },
      };
    },
    async close() {
      for (const directory of directories.values()) await removeTree(directory, dirname(directory));
    },
  };
}

/** Does nothing, because a machine joins its control groups before it runs its first instruction. */
function alreadyMember(): void {
  return;
}

const cpuPeriod = 100_000;

/** The memory limit of a group, files included, because tmpfs pages count as the group's memory. */
function memoryBytes(limits: MachineLimits, disks: number): number {
  return mostMemoryMb(limits, disks) * 1024 * 1024;
}

/** The control groups of this process, by controller. */
function ownGroups(): Map<string, string> {
  const groups = new Map<string, string>();
  for (const line of textOf("/proc/self/cgroup").split("\n")) {
    const [, controllers = "", path] = line.split(":");
    if (path === undefined) continue;
    for (const controller of controllers.split(",")) groups.set(controller, path);
  }
  return groups;
}

async function readCounter(file: string, key: string): Promise<number> {
  const text = await readFile(file, "utf8").catch(() => "");
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${key} `));
  return line === undefined ? 0 : Number(line.slice(key.length + 1));
}

/**
 * Removes a group. Retries on EBUSY, because the kernel may reap the last process a moment after its exit. The call is
 * synchronous, because the directory is in memory, and handing the call to another thread takes longer.
 */
async function removeGroup(directory: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      rmdirSync(directory);
      return;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ENOENT") return;
      if (code !== "EBUSY" || attempt >= 60) throw error;
      await delay(Math.min(1 + attempt, 10));
    }
  }
}

/** Removes a group and all groups below it. Resolves with whether all are gone. */
async function removeTree(directory: string, parent?: string): Promise<boolean> {
  for (const group of groupsBelow(directory)) await removeGroup(group).catch(ignoreBusy);
  removeEmpty(directory);
  if (parent !== undefined) removeEmpty(parent);
  return !existsSync(directory);
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    ignoreBusy(error as NodeJS.ErrnoException);
  }
}

function subdirectories(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** Ignores that a directory cannot be removed: groups of another instance may be in the shared parent. */
function ignoreBusy(error: NodeJS.ErrnoException): void {
  if (!["EBUSY", "ENOENT", "ENOTEMPTY", "EPERM", "EACCES", "EROFS"].includes(error.code ?? "")) throw error;
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  // ENODEV: the group was removed during the write.
  if (!["ENOENT", "ENODEV", "EOPNOTSUPP", "EACCES", "EPERM"].includes(error.code ?? "")) throw error;
}
