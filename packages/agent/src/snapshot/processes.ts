import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const politeMs = 2000;
const pollMs = 10;
const tellMs = 1000;
const giveUpMs = 5000;

/**
 * Ends every process of the machine except init and the agent, first with SIGTERM, then with SIGKILL. Rejects if some
 * survive. Then waits up to 1 s until the agent has recorded the ends of the programs it had started (`isTold`).
 */
export async function endOtherProcesses(isTold: () => boolean): Promise<void> {
  await endAll();
  const deadline = Date.now() + tellMs;
  while (!isTold() && Date.now() < deadline) await sleep(pollMs);
}

async function endAll(): Promise<void> {
  signalAll("SIGTERM");
  if (await noneLeft(politeMs)) return;
  const deadline = Date.now() + giveUpMs;
  while (Date.now() < deadline) {
    // Repeat, because a process may start others during a pass.
    signalAll("SIGKILL");
    if (await noneLeft(pollMs)) return;
  }
  throw new Error("Some processes could not be ended.");
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
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== 1 && pid !== process.pid && isAlive(pid));
}

function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
