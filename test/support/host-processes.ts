import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";

export interface HostProcess {
  readonly pid: number;
  readonly parent: number;
  readonly commandLine: string;
}

/** The running processes of this machine, zombies left out. */
export function hostProcesses(): HostProcess[] {
  return pids().flatMap((pid) => {
    const commandLine = commandLineOf(pid);
    const parent = commandLine === "" ? undefined : parentOf(pid);
    return parent === undefined ? [] : [{ pid, parent, commandLine }];
  });
}

/** The environment that a process was started with. Empty if the process has ended or belongs to another user. */
export function environmentOf(pid: number): string {
  return readProcess(pid, "environ");
}

/** All descendants of a process, zombies left out. */
export function descendants(root: number): HostProcess[] {
  const children = new Map<number, number[]>();
  for (const pid of pids()) {
    const parent = parentOf(pid);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found: HostProcess[] = [];
  for (const parents = [root]; parents.length > 0; ) {
    const parent = parents.pop() ?? 0;
    for (const pid of children.get(parent) ?? []) {
      const commandLine = commandLineOf(pid);
      if (commandLine === "") continue;
      found.push({ pid, parent, commandLine });
      parents.push(pid);
    }
  }
  return found;
}

function pids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function parentOf(pid: number): number | undefined {
  const stat = readProcess(pid, "stat");
  return stat === "" ? undefined : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

const commandLineOf = (pid: number): string => readProcess(pid, "cmdline").replaceAll("\0", " ").trim();

/** Tests ask for all processes many times a second, so their files are read into one buffer. */
const buffer = Buffer.allocUnsafe(16 * 1024);

/** Empty if the process has ended or belongs to another user. */
function readProcess(pid: number, name: "cmdline" | "environ" | "stat"): string {
  const path = `/proc/${pid}/${name}`;
  try {
    const file = openSync(path, "r");
    try {
      const length = readSync(file, buffer, 0, buffer.length, 0);
      return length < buffer.length ? buffer.toString("utf8", 0, length) : readFileSync(path, "utf8");
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}

/** Kills processes. One that has ended with another of them, or just now, is passed over. */
export function killAll(processes: readonly Pick<HostProcess, "pid">[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}
