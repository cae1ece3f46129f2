import { readdirSync, readFileSync } from "node:fs";

export interface HostProcess {
  readonly pid: number;
  readonly parent: number;
  readonly commandLine: string;
}

/** The running processes of this machine, zombies left out. */
export function hostProcesses(): HostProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const commandLine = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
        return commandLine === "" ? [] : [{ pid: Number(name), parent, commandLine }];
      } catch {
        // The process ended while the list was read.
        return [];
      }
    });
}

/** The environment that a process was started with. Empty if the process has ended or belongs to another user. */
export function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}

/** All descendants of a process. */
export function descendants(root: number): HostProcess[] {
  const all = hostProcesses();
  const found: HostProcess[] = [];
  for (const parents = [root]; parents.length > 0; ) {
    const parent = parents.pop();
    const children = all.filter((candidate) => candidate.parent === parent);
    found.push(...children);
    parents.push(...children.map(({ pid }) => pid));
  }
  return found;
}
