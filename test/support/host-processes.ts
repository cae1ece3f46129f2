import { readdirSync, readFileSync } from "node:fs";

export interface HostProcess {
  readonly pid: number;
  readonly commandLine: string;
}

/** The running processes of this machine, zombies left out. */
export function hostProcesses(): HostProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const commandLine = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        return commandLine === "" ? [] : [{ pid: Number(name), commandLine }];
      } catch {
        // It ended while the list was read.
        return [];
      }
    });
}
