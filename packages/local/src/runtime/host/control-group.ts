import { existsSync } from "node:fs";
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type MachineLimits, mostMemoryMb } from "../sandbox-runtime.js";
import type { MachineGroups } from "./machine-group.js";

/**
 * Kernel control groups: what holds a whole machine, not one process, to its memory, processes and CPU.
 *
 * Both hierarchies are spoken, since both are in use: v1 (and hybrid) has one tree a controller, v2 one tree
 * for all. A host that lets us write neither has none, and limits fall back to rlimits and tmpfs sizes.
 */
export interface ControlGroups extends MachineGroups {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
}

export type Controller = "memory" | "pids" | "cpu" | "freezer";

const root = "/sys/fs/cgroup";
const family = "cloud-sandbox";

/** The control groups that this process may use, or undefined with nothing changed on the host. */
export async function openControlGroups(
  instance: string,
  base: string = root,
): Promise<ControlGroups | undefined> {
  const own = parseOwnGroups(await readFile("/proc/self/cgroup", "utf8").catch(() => ""));
  return (await openUnified(instance, base)) ?? (await openPerController(instance, base, own));
}

/** Where the groups of an instance are, in whichever hierarchies they come to be made. */
export async function controlGroupDirectories(instance: string, base: string = root): Promise<string[]> {
  return (await familyDirectories(base)).map((directory) => join(directory, instance));
}

async function familyDirectories(base: string): Promise<string[]> {
  const own = parseOwnGroups(await readFile("/proc/self/cgroup", "utf8").catch(() => ""));
  return [join(base, family), ...controllersV1.map((name) => join(base, name, own.get(name) ?? "", family))];
}

/**
 * Ends and removes what instances left behind for which `isAlive` says no; resolves with those of which something is
 * left even so.
 */
export async function removeStaleGroups(
  isAlive: (instance: string) => boolean,
  base: string = root,
): Promise<ReadonlySet<string>> {
  const remaining = new Set<string>();
  const families = await familyDirectories(base);
  const stale: { readonly instance: string; readonly path: string }[] = [];
  for (const family of families)
    for (const instance of await subdirectories(family))
      if (!isAlive(instance)) stale.push({ instance, path: join(family, instance) });
  // First in all hierarchies: what is frozen in one keeps its groups in the others from being removed.
  for (const { path } of stale) for (const group of await groupsBelow(path)) await killMembers(group);
  for (const { path } of stale) for (const group of await groupsBelow(path)) await thaw(group);
  for (const { instance, path } of stale) if (!(await removeTree(path))) remaining.add(instance);
  for (const family of families) await rmdir(family).catch(ignoreBusy);
  return remaining;
}

async function killMembers(group: string): Promise<void> {
  const members = await readFile(join(group, "cgroup.procs"), "utf8").catch(() => "");
  for (const pid of members.split("\n").filter(Boolean).map(Number)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

/** What was killed while it was frozen dies now. */
async function thaw(group: string): Promise<void> {
  await writeFile(join(group, "freezer.state"), "THAWED", { flag: "r+" }).catch(ignoreMissing);
  await writeFile(join(group, "cgroup.freeze"), "0", { flag: "r+" }).catch(ignoreMissing);
}

/** All groups below one, the deepest first. */
async function groupsBelow(directory: string): Promise<string[]> {
  const groups: string[] = [];
  for (const name of await subdirectories(directory)) {
    const group = join(directory, name);
    groups.push(...(await groupsBelow(group)), group);
  }
  return groups;
}

async function openUnified(instance: string, base: string): Promise<ControlGroups | undefined> {
  const wanted = ["memory", "pids", "cpu"] as const;
  const available = (await readFile(join(base, "cgroup.controllers"), "utf8").catch(() => ""))
    .trim()
    .split(" ");
  if (!wanted.every((name) => available.includes(name))) return undefined;
  const familyDirectory = join(base, family);
  const directory = join(familyDirectory, instance);
  const enable = wanted.map((name) => `+${name}`).join(" ");
  try {
    await writeFile(join(base, "cgroup.subtree_control"), enable);
    await mkdir(directory, { recursive: true });
    await writeFile(join(familyDirectory, "cgroup.subtree_control"), enable);
    await writeFile(join(directory, "cgroup.subtree_control"), enable);
  } catch {
    await removeTree(directory);
    return undefined;
  }
  return {
    version: 2,
    figures: directory,
    controllers: [...wanted, "freezer"],
    async create(name, limits, disks) {
      const group = join(directory, name);
      const [machine, helpers] = [join(group, "machine"), join(group, "helpers")];
      await mkdir(group);
      await Promise.all([mkdir(machine), mkdir(helpers)]);
      await Promise.all([
        writeFile(join(group, "memory.max"), String(memoryBytes(limits, disks))),
        // Absent where the kernel counts no swap.
        writeFile(join(group, "memory.swap.max"), "0").catch(ignoreMissing),
        writeFile(join(group, "pids.max"), String(limits.maxProcesses)),
        writeFile(join(group, "cpu.max"), `${Math.round(limits.vcpu * cpuPeriod)} ${cpuPeriod}`),
        writeFile(join(group, "cpu.weight"), "50"),
      ]);
      return {
        memberFiles: [join(machine, "cgroup.procs")],
        helperFiles: [join(helpers, "cgroup.procs")],
        canFreeze: true,
        countsFiles: true,
        adopt: alreadyMember,
        figures: { source: group, target: root },
        freeze: (frozen) => writeFile(join(machine, "cgroup.freeze"), frozen ? "1" : "0"),
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
      await access(parent, constants.W_OK);
      await mkdir(directory, { recursive: true });
    } catch {
      continue;
    }
    controllers.push(name);
    directories.set(name, directory);
  }
  const memory = directories.get("memory");
  if (memory === undefined || !directories.has("pids")) {
    for (const directory of directories.values()) await removeTree(directory, dirname(directory));
    return undefined;
  }
  return {
    version: 1,
    figures: memory,
    controllers,
    async create(name, limits, disks) {
      const group = new Map(
        [...directories].map(([controller, directory]) => [controller, join(directory, name)]),
      );
      await Promise.all([...group.values()].map((directory) => mkdir(directory)));
      const set = (controller: Controller, file: string, value: number): Promise<void> => {
        const directory = group.get(controller);
        return directory === undefined ? Promise.resolve() : writeFile(join(directory, file), String(value));
      };
      await Promise.all([
        set("memory", "memory.limit_in_bytes", memoryBytes(limits, disks)),
        set("pids", "pids.max", limits.maxProcesses),
        set("cpu", "cpu.cfs_period_us", cpuPeriod).then(() =>
          set("cpu", "cpu.cfs_quota_us", Math.round(limits.vcpu * cpuPeriod)),
        ),
        set("cpu", "cpu.shares", 512),
      ]);
      // What waits in TCP sockets is counted apart.
      await set("memory", "memory.kmem.tcp.limit_in_bytes", 64 * 1024 * 1024).catch(ignoreMissing);
      // The limit on memory with swap can only be set once the one without is.
      await set("memory", "memory.memsw.limit_in_bytes", memoryBytes(limits, disks)).catch(ignoreMissing);
      const memoryGroup = join(memory, name);
      return {
        // Not cgroup.procs: a thread that moves itself needs no lock that the whole kernel waits for, 10 ms each.
        memberFiles: [...group.values()].map((directory) => join(directory, "tasks")),
        helperFiles: [...group].flatMap(([name, directory]) =>
          name === "freezer" ? [] : [join(directory, "tasks")],
        ),
        canFreeze: group.has("freezer"),
        countsFiles: true,
        adopt: alreadyMember,
        figures: { source: memoryGroup, target: join(root, "memory") },
        async freeze(frozen) {
          const freezer = group.get("freezer");
          if (freezer === undefined) throw new Error("The freezer controller is not available.");
          await writeFile(join(freezer, "freezer.state"), frozen ? "FROZEN" : "THAWED");
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

/** A machine's processes are members from before its first instruction. */
function alreadyMember(): void {
  return;
}

const cpuPeriod = 100_000;

/** tmpfs pages count as the group's memory, so that files must fit beside the processes. */
function memoryBytes(limits: MachineLimits, disks: number): number {
  return mostMemoryMb(limits, disks) * 1024 * 1024;
}

function parseOwnGroups(text: string): Map<string, string> {
  const groups = new Map<string, string>();
  for (const line of text.split("\n")) {
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

/** A group can be removed once its last process is reaped, which the kernel may do a moment after the exit. */
async function removeGroup(directory: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await rmdir(directory);
      return;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ENOENT") return;
      if (code !== "EBUSY" || attempt >= 60) throw error;
      await delay(Math.min(1 + attempt, 10));
    }
  }
}

/** Whether nothing of it is left. */
async function removeTree(directory: string, parent?: string): Promise<boolean> {
  for (const group of await groupsBelow(directory)) await removeGroup(group).catch(ignoreBusy);
  await rmdir(directory).catch(ignoreBusy);
  if (parent !== undefined) await rmdir(parent).catch(ignoreBusy);
  return !existsSync(directory);
}

async function subdirectories(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** Somebody else's group may live beside ours; theirs keeps the shared parent alive. */
function ignoreBusy(error: NodeJS.ErrnoException): void {
  if (!["EBUSY", "ENOENT", "ENOTEMPTY", "EPERM", "EACCES", "EROFS"].includes(error.code ?? "")) throw error;
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  // ENODEV: the group went while it was written to.
  if (!["ENOENT", "ENODEV", "EOPNOTSUPP", "EACCES", "EPERM"].includes(error.code ?? "")) throw error;
}
