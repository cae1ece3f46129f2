import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

/** A process of the host, as it was when it was read. */
export interface HostProcess {
  readonly pid: number;
  readonly parent: number;
  /** The state as the kernel writes it: `R`, `S`, `D`, `T`, `Z`, … */
  readonly state: string;
  /** Resident memory in pages, shared memory included. */
  readonly residentPages: number;
}

/** Processes that are read before other work of this process gets its turn. */
const batch = 16;

/**
 * `root` and everything that descends from it, each parent before its children. Code in a sandbox decides how many there are, so
 * one file is open at a time, and no process outside of the tree is looked at.
 */
export async function processTree(root: number): Promise<readonly HostProcess[]> {
  const found: HostProcess[] = [];
  const pids = [root];
  for (const [index, pid] of pids.entries()) {
    if (index % batch === batch - 1) await nextTurn();
    const process = readProcess(pid);
    if (!process) continue;
    found.push(process);
    pids.push(...childrenOf(pid));
  }
  return found;
}

/** Undefined if there is no such process. */
export function readProcess(pid: number): HostProcess | undefined {
  const stat = orNothing(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (stat === undefined) return undefined;
  // Split after the last parenthesis: the command name before it may hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { pid, parent: Number(fields[1]), state: fields[0] ?? "", residentPages: Number(fields[21]) };
}

/** The children of a process, the oldest of each of its threads first. Empty if there is no such process. */
export function childrenOf(pid: number): readonly number[] {
  const threads = orNothing(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.flatMap((thread) => {
    const children = orNothing(() => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")) ?? "";
    return children.split(" ").filter(Boolean).map(Number);
  });
}

function orNothing<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return undefined;
  }
}

/** Most walks over the tree, and most milliseconds between two: 5 s in all. */
const passes = 110;
const longestPauseMs = 50;

/**
 * Stops or continues a process and all its descendants, for hosts without a freezer.
 *
 * Everything in a machine descends from its process 1. While the tree is walked, a process may fork or continue another,
 * so the walk is repeated until all processes are in the wanted state. On a busy host, a process needs a moment until it obeys.
 * Rejects after 5 s: code in the machine is undoing the signals.
 */
export async function stopProcessTree(root: number, stop: boolean): Promise<void> {
  for (let pass = 0; pass < passes; pass += 1) {
    const waiting = (await processTree(root)).filter(({ state }) =>
      stop ? !/[TtZX]/.test(state) : state === "T",
    );
    if (waiting.length === 0) return;
    for (const { pid } of waiting) signalIfThere(pid, stop ? "SIGSTOP" : "SIGCONT");
    await sleep(Math.min(pass, longestPauseMs));
  }
  throw new Error(
    stop
      ? "The sandbox's processes keep continuing each other, so the sandbox cannot be paused."
      : "The sandbox's processes keep stopping each other, so the sandbox cannot be resumed.",
  );
}

/** Signals a process. No error if it has ended. */
export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/**
 * Whether a process has ended, also if nobody has taken its exit code: where process 1 takes none, an orphan keeps its pid for
 * ever. Its files, mounts and memory are gone by then.
 */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  try {
    return /[ZX]/.test(readProcess(pid)?.state ?? "X");
  } catch {
    // Without a free descriptor nothing can be read.
    return false;
  }
}
