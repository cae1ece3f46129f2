import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Set for every program that runs here: it finds those of its descendants that left its process group. */
export const executionMarker = "CLOUD_SANDBOX_EXECUTION_ID";

const sweepInterval = 5;
const sweepLimit = 5000;
/** The kernel's clock ticks in a second, in which it tells when a process was started. */
const ticks = 100;
/** Seconds by which a process may seem to be older than what started it. */
const tickSlack = 0.02;

interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Seconds since the machine was started. */
  readonly startedAt: number;
}

/** Whether a process, which does not descend from one that was found, is to be killed. */
type Belongs = (entry: SeenProcess) => boolean;

/**
 * Kills a program's process group and every process that descends from it, also those that made a group or a session
 * of their own.
 */
export async function sweepProcesses(leader: number, executionId: string): Promise<void> {
  killGroup(leader, "SIGKILL");
  await sweepAll(
    new Set([leader]),
    ({ pid, group, session }) => group === leader || session === leader || markerOf(pid) === executionId,
  );
}

/** As `sweepProcesses`, for programs of which no more is known than what they are marked with. */
export async function sweepMarkedProcesses(executionIds: ReadonlySet<string>): Promise<void> {
  if (executionIds.size === 0) return;
  await sweepAll(new Set(), ({ pid }) => executionIds.has(markerOf(pid) ?? ""));
}

/** An execution in an interpreter that had run others before it. */
export interface ContextExecution {
  readonly id: string;
  readonly interpreter: number;
  /** The mark of the interpreter, which those that it forked have too. */
  readonly contextId: string;
  /** By the process's clock, in milliseconds. */
  readonly began: number;
}

/**
 * Kills what an execution started, and neither its interpreter nor what executions before it left behind on purpose.
 */
export async function sweepExecution({ id, interpreter, contextId, began }: ContextExecution): Promise<void> {
  const uptime = Number(read("/proc/uptime").split(" ", 1)[0]);
  const since = uptime - (performance.now() - began) / 1000 - tickSlack;
  await sweepAll(new Set(), ({ pid, parent, group, startedAt }) => {
    if (pid === interpreter) return false;
    const marker = markerOf(pid);
    if (marker === id) return true;
    // One that was forked has its interpreter's; one that has none hid it; others are of executions before.
    if (startedAt < since || (marker !== undefined && marker !== contextId)) return false;
    return marker === contextId || parent === interpreter || group === interpreter;
  });
}

/** Kills an interpreter with what it forked; programs that its executions left behind on purpose stay. */
export async function sweepContext(interpreter: number, contextId: string): Promise<void> {
  kill(interpreter, "SIGKILL");
  await sweepAll(new Set(), ({ pid }) => pid === interpreter || markerOf(pid) === contextId, false);
}

/**
 * Sweeps until none is left, because processes may be started while one is looking. It reads /proc synchronously: a
 * program that forks all the time must not get turns in between.
 */
async function sweepAll(known: Set<number>, belongs: Belongs, descendants = true): Promise<void> {
  const deadline = Date.now() + sweepLimit;
  while (sweep(known, belongs, descendants) && Date.now() < deadline) await sleep(sweepInterval);
}

/** Signals a process group; one that is gone is fine. */
export function killGroup(leader: number, signal: NodeJS.Signals): void {
  kill(-leader, signal);
}

function sweep(known: Set<number>, belongs: Belongs, descendants: boolean): boolean {
  let found = false;
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const entry = readProcess(pid);
    if (!entry) continue;
    if (!(known.has(pid) || (descendants && known.has(entry.parent)) || belongs(entry))) continue;
    found = true;
    known.add(pid);
    kill(pid, "SIGKILL");
  }
  return found;
}

/** Nothing when it has ended. */
function readProcess(pid: number): SeenProcess | undefined {
  const text = read(`/proc/${pid}/stat`);
  // The name, in parentheses, may hold anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ", 20);
  const [state, parent, group, session] = fields;
  if (!state || state === "Z" || state === "X") return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedAt: Number(fields[19]) / ticks,
  };
}

/** The id of the execution that a process was started in. */
function markerOf(pid: number): string | undefined {
  const marker = `\0${executionMarker}=`;
  const environment = `\0${read(`/proc/${pid}/environ`)}`;
  const start = environment.indexOf(marker);
  if (start < 0) return undefined;
  return environment.slice(start + marker.length).split("\0", 1)[0];
}

/** Empty when the process has just ended, or is none of ours. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** Signals a process; one that is gone, or took another identity, which nothing in a sandbox can, is fine. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM")))
      throw error;
  }
}
