import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Matches the identities of this platform. Those of another platform may be in a directory that machines share. */
export const identityPattern = process.platform === "linux" ? /\d+-\d+/ : /\d+-\d+s/;

let own: string | undefined;

/**
 * Identifies a process as `<pid>-<start time>`, because the kernel reuses pids. Everything that a control plane creates on
 * the host carries its identity, by which the next one finds what dead ones left. Undefined if the process has ended.
 */
export function processIdentity(pid: number): string | undefined {
  if (pid !== process.pid) return identityOf(pid);
  own ??= identityOf(pid);
  return own;
}

function identityOf(pid: number): string | undefined {
  const startTime = process.platform === "linux" ? startTimeFromProc(pid) : startTimeFromPs(pid);
  return startTime === undefined ? undefined : `${pid}-${startTime}`;
}

function startTimeFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the command in parentheses, which may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const state = fields[0];
    return state === "Z" ? undefined : fields[19];
  } catch (error) {
    // Another error (no free descriptor, for example) does not mean that the process has ended.
    if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return undefined;
  }
}

/**
 * The start time of a process in seconds since 1970, and an `s`, which tells it from the clock ticks of Linux. macOS has no
 * `/proc`, but the command `ps`.
 */
function startTimeFromPs(pid: number): string | undefined {
  let line: string;
  try {
    line = execFileSync("ps", ["-o", "stat=", "-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch (error) {
    // It exits with 1 if there is no such process.
    if ((error as { status?: unknown }).status === 1) return undefined;
    throw error;
  }
  const [state = "", ...started] = line.trim().split(/\s+/);
  const time = Date.parse(`${started.join(" ")} UTC`);
  if (Number.isNaN(time)) throw new Error(`"ps" tells no start time of process ${pid}: ${line.trim()}`);
  return state.startsWith("Z") ? undefined : `${time / 1000}s`;
}

export function isAliveIdentity(identity: string): boolean {
  const pid = Number(identity.split("-")[0]);
  return Number.isInteger(pid) && processIdentity(pid) === identity;
}
