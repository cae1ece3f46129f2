import { readFileSync } from "node:fs";

/**
 * Identifies a process as `<pid>-<start time>`, because the kernel reuses pids. Everything that a control plane creates on
 * the host carries its identity, by which the next one finds what dead ones left. Undefined if the process has ended.
 */
export function processIdentity(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the command in parentheses, which may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const state = fields[0];
    const startTime = fields[19];
    return state === "Z" || startTime === undefined ? undefined : `${pid}-${startTime}`;
  } catch (error) {
    // Another error (no free descriptor, for example) does not mean that the process has ended.
    if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return undefined;
  }
}

export function isAliveIdentity(identity: string): boolean {
  const pid = Number(identity.split("-")[0]);
  return Number.isInteger(pid) && processIdentity(pid) === identity;
}
