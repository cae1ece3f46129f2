import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const termMs = 2000;
const pollMs = 10;
const recordMs = 1000;
const killMs = 5000;

/**
 * Ends every process of the machine except those that it needs, first with SIGTERM, then with SIGKILL. Rejects if some
 * survive. Then waits up to 1 s until the agent has recorded that its programs have ended (`areEndsRecorded`).
 */
export async function endOtherProcesses(areEndsRecorded: () => boolean): Promise<void> {
  await endAll();
  const deadline = Date.now() + recordMs;
  while (!areEndsRecorded() && Date.now() < deadline) await sleep(pollMs);
}

async function endAll(): Promise<void> {
  signalAll("SIGTERM");
  if (await noneLeft(termMs)) return;
  const deadline = Date.now() + killMs;
  while (Date.now() < deadline) {
    // Repeat, because a process may start others while they are listed and signalled.
    signalAll("SIGKILL");
    if (await noneLeft(pollMs)) return;
  }
  throw new Error(
    "Some processes of the sandbox survived SIGKILL for 5 s. Kill the sandbox instead of stopping it.",
  );
}

async function noneLeft(withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    if (otherProcesses().length === 0) return true;
    if (Date.now() >= deadline) return false;
    await sleep(pollMs);
  }
}

function signalAll(signal: NodeJS.Signals): void {
  for (const pid of otherProcesses()) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}

function otherProcesses(): number[] {
  return readdirSync("/proc").map(Number).filter(isOther);
}

/**
 * Whether it is alive and neither the init nor the agent, nor what started the agent: that need not be the init. A process without
 * a parent was started from outside of the machine, as the one that carries the control plane's connection.
 */
function isOther(pid: number): boolean {
  if (!Number.isInteger(pid) || [1, process.pid, process.ppid].includes(pid)) return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state = "", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return !/^[ZX]/.test(state) && parent !== "0";
  } catch {
    return false;
  }
}
