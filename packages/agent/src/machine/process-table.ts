import { readdir, readFile } from "node:fs/promises";

export interface ProcessEntry {
  readonly pid: number;
  readonly ppid: number;
  readonly name: string;
  readonly state: string;
  readonly uid: number;
  /** CPU time in seconds, including that of children the process has waited for. */
  readonly cpuSeconds: number;
  /** Start time, in seconds since boot. */
  readonly startedAfter: number;
  readonly residentKb: number;
  /** Resident anonymous memory, without mapped files, in KiB. */
  readonly anonymousKb: number;
}

/** Clock ticks per second in /proc, the same on every architecture. */
const ticksPerSecond = 100;
/** Number of processes that are read at the same time. */
const batch = 32;

/** The visible processes by ascending id, at most `limit`. Processes that end meanwhile are left out. */
export async function readProcessTable(limit: number): Promise<ProcessEntry[]> {
  const pids = (await processIds()).slice(0, limit);
  const entries: ProcessEntry[] = [];
  for (let at = 0; at < pids.length; at += batch) {
    const found = await Promise.all(pids.slice(at, at + batch).map(readProcess));
    for (const entry of found) if (entry) entries.push(entry);
  }
  return entries;
}

export async function processIds(): Promise<number[]> {
  const names = await readdir("/proc");
  return names.map(Number).filter((pid) => Number.isInteger(pid));
}

/** A process's command line, or its name in brackets if it has none, as for kernel threads. */
export async function commandLine({ pid, name }: ProcessEntry): Promise<string> {
  const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return text.replaceAll("\0", " ").trim() || `[${name}]`;
}

/** Undefined if the process has ended. */
export async function readProcess(pid: number): Promise<ProcessEntry | undefined> {
  try {
    const [stat, status] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "utf8"),
      readFile(`/proc/${pid}/status`, "utf8"),
    ]);
    // The process name, in parentheses, may contain any characters, so parse after the last parenthesis.
    const nameEnd = stat.lastIndexOf(")");
    const fields = stat.slice(nameEnd + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, value) => sum + Number(value), 0);
    const number = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
    return {
      pid,
      ppid: Number(fields[1]),
      name: stat.slice(stat.indexOf("(") + 1, nameEnd),
      state: fields[0] ?? "?",
      uid: number("Uid"),
      cpuSeconds: ticks / ticksPerSecond,
      startedAfter: Number(fields[19]) / ticksPerSecond,
      residentKb: number("VmRSS"),
      anonymousKb: number("RssAnon"),
    };
  } catch {
    return undefined;
  }
}
