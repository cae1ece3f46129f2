import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Set for every program that runs here: it finds those of its descendants that left its process group. */
export const executionMarker = "CLOUD_SANDBOX_EXECUTION_ID";

const sweepInterval = 5;
const sweepLimit = 5000;

/**
 * Kills a program's process group and every process that descends from it, also those that made a group or a session
 * of their own. Sweeps until none is left, because processes may be started while one is looking.
 *
 * It reads /proc synchronously: a program that forks all the time must not get turns in between.
 */
export async function sweepProcesses(leader: number, executionId: string): Promise<void> {
  const deadline = Date.now() + sweepLimit;
  const known = new Set([leader]);
  const marker = `${executionMarker}=${executionId}\0`;
  killGroup(leader, "SIGKILL");
  while (sweep(known, leader, marker) && Date.now() < deadline) await sleep(sweepInterval);
}

/** Signals a process group; one that is gone is fine. */
export function killGroup(leader: number, signal: NodeJS.Signals): void {
  kill(-leader, signal);
}

function sweep(known: Set<number>, leader: number, marker: string): boolean {
  let found = false;
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const entry = readProcess(pid);
    if (!entry || entry.state === "Z" || entry.state === "X") continue;
    const { parent, group, session } = entry;
    const belongs =
      group === leader || session === leader || known.has(pid) || known.has(parent) || hasMarker(pid, marker);
    if (!belongs) continue;
    found = true;
    known.add(pid);
    kill(pid, "SIGKILL");
  }
  return found;
}

function readProcess(pid: number) {
  const text = read(`/proc/${pid}/stat`);
  // The name, in parentheses, may hold anything.
  const [state, parent, group, session] = text.slice(text.lastIndexOf(")") + 2).split(" ", 4);
  return state
    ? { state, parent: Number(parent), group: Number(group), session: Number(session) }
    : undefined;
}

function hasMarker(pid: number, marker: string): boolean {
  const environment = read(`/proc/${pid}/environ`);
  return environment.startsWith(marker) || environment.includes(`\0${marker}`);
}

/** Empty when the process has just ended, or is none of ours. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Gone already, or it took another identity, which nothing in a sandbox can.
    if (!(error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM")))
      throw error;
  }
}
