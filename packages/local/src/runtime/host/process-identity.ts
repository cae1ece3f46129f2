import { readFileSync } from "node:fs";

/**
 * Names a process so that its number, used again by another, is not taken for it: `<pid>-<start time>`.
 * What an instance leaves on the host carries this name, and the next one removes what nobody alive owns.
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
    // Whoever cannot be looked at, for want of descriptors say, is not dead for that.
    if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return undefined;
  }
}

export function isAliveIdentity(identity: string): boolean {
  const pid = Number(identity.split("-")[0]);
  return Number.isInteger(pid) && processIdentity(pid) === identity;
}
