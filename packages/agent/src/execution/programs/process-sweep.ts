import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Environment variable that marks every program with its execution's id. Children inherit it, so descendants are
 * found even after they left the process group.
 */
export const executionMarker = "CLOUD_SANDBOX_EXECUTION_ID";

const sweepInterval = 5;
const sweepLimit = 5000;
/** Clock ticks per second: the unit of process start times in /proc. */
const ticks = 100;
/**
 * Start times are rounded to ticks, so a process may seem older than the execution that started it by up to this many
 * seconds.
 */
const tickSlack = 0.02;

interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Start time, in seconds since boot. */
  readonly startedAt: number;
}

/** Decides whether a process is to be killed although it is not a child of a process already found. */
type Belongs = (entry: SeenProcess) => boolean;

/**
 * Kills a program's process group and all its descendants, including those that created their own process group or
 * session.
 */
export async function sweepProcesses(leader: number, executionId: string): Promise<void> {
  killGroup(leader, "SIGKILL");
  await sweepAll(
    new Set([leader]),
    ({ pid, group, session }) => group === leader || session === leader || markerOf(pid) === executionId,
  );
}

/**
 * Like `sweepProcesses`, for programs of which only the execution ids are known. Processes are found by their marker.
 */
export async function sweepMarkedProcesses(executionIds: ReadonlySet<string>): Promise<void> {
  if (executionIds.size === 0) return;
  await sweepAll(new Set(), ({ pid }) => executionIds.has(markerOf(pid) ?? ""));
}

/** The ids of the processes that an execution started, or that were started by those. */
export function markedProcesses(executionId: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && markerOf(pid) === executionId);
}

/** An execution whose interpreter may have run other executions before. */
export interface ContextExecution {
  readonly id: string;
  readonly interpreter: number;
  /** The interpreter's own marker, which processes forked from it inherit. */
  readonly contextId: string;
  /** Start of the execution by `performance.now()`, in milliseconds. */
  readonly began: number;
}

/**
 * Kills the processes that an execution started. Its interpreter survives, and so do background processes that
 * earlier executions left running.
 */
export async function sweepExecution({ id, interpreter, contextId, began }: ContextExecution): Promise<void> {
  const uptime = Number(read("/proc/uptime").split(" ", 1)[0]);
  const since = uptime - (performance.now() - began) / 1000 - tickSlack;
  await sweepAll(new Set(), ({ pid, parent, group, startedAt }) => {
    if (pid === interpreter) return false;
    const marker = markerOf(pid);
    if (marker === id) return true;
    // A process forked from the interpreter has the interpreter's marker. One without a marker has removed it. Any
    // other marker belongs to an earlier execution.
    if (startedAt < since || (marker !== undefined && marker !== contextId)) return false;
    return marker === contextId || parent === interpreter || group === interpreter;
  });
}

/**
 * Kills an interpreter and the processes forked from it. Programs that its executions left running in the background
 * stay.
 */
export async function sweepContext(interpreter: number, contextId: string): Promise<void> {
  kill(interpreter, "SIGKILL");
  await sweepAll(new Set(), ({ pid }) => pid === interpreter || markerOf(pid) === contextId, false);
}

/**
 * Lists and kills matching processes until none is left, because new ones may start meanwhile; gives up after 5 s. It
 * reads /proc synchronously, so that a program that keeps forking gets less time to do so.
 */
async function sweepAll(known: Set<number>, belongs: Belongs, descendants = true): Promise<void> {
  const deadline = Date.now() + sweepLimit;
  while (sweep(known, belongs, descendants) && Date.now() < deadline) await sleep(sweepInterval);
}

/** Signals a process group. No error if it no longer exists. */
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

/** Reads a process from /proc. Undefined if it has ended. */
function readProcess(pid: number): SeenProcess | undefined {
  const text = read(`/proc/${pid}/stat`);
  // The process name, in parentheses, may contain any characters, so parse after the last parenthesis.
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

/** The value of a process's execution marker; undefined if it has none. */
function markerOf(pid: number): string | undefined {
  const marker = `\0${executionMarker}=`;
  const environment = `\0${read(`/proc/${pid}/environ`)}`;
  const start = environment.indexOf(marker);
  if (start < 0) return undefined;
  return environment.slice(start + marker.length).split("\0", 1)[0];
}

/** Reads a file in /proc. Empty if the process has just ended or belongs to another user. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/**
 * Signals a process. No error if it no longer exists (ESRCH) or runs as another user (EPERM): programs in a sandbox
 * cannot change their user, so such a process is not one of theirs.
 */
export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM")))
      throw error;
  }
}
