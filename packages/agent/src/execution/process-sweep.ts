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
  const isMarked = markedWith(new Set([executionId]));
  killGroup(leader, "SIGKILL");
  await sweepAll(
    [leader],
    (pid, { group, session }) => group === leader || session === leader || isMarked(pid),
  );
}

/** As `sweepProcesses`, for programs of which no more is known than what they are marked with. */
export async function sweepMarkedProcesses(executionIds: ReadonlySet<string>): Promise<void> {
  if (executionIds.size > 0) await sweepAll([], markedWith(executionIds));
}

/** Signals a process group; one that is gone is fine. */
export function killGroup(leader: number, signal: NodeJS.Signals): void {
  kill(-leader, signal);
}

type Belongs = (pid: number, entry: { readonly group: number; readonly session: number }) => boolean;

async function sweepAll(leaders: readonly number[], belongs: Belongs): Promise<void> {
  const deadline = Date.now() + sweepLimit;
  const known = new Set(leaders);
  while (sweep(known, belongs) && Date.now() < deadline) await sleep(sweepInterval);
}

function sweep(known: Set<number>, belongs: Belongs): boolean {
  let found = false;
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const entry = readProcess(pid);
    if (!entry || entry.state === "Z" || entry.state === "X") continue;
    if (!known.has(pid) && !known.has(entry.parent) && !belongs(pid, entry)) continue;
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

function markedWith(executionIds: ReadonlySet<string>): (pid: number) => boolean {
  const prefix = `${executionMarker}=`;
  return (pid) =>
    read(`/proc/${pid}/environ`)
      .split("\0")
      .some((entry) => entry.startsWith(prefix) && executionIds.has(entry.slice(prefix.length)));
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
