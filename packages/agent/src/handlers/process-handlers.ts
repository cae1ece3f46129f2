import { uptime } from "node:os";
import { kill } from "../execution/programs/process-sweep.js";
import { commandLine, type ProcessEntry, processIds, readProcessTable } from "../machine/process-table.js";
import { readSystemFile } from "../machine/system-file.js";
import { type AgentHandlers, now } from "./agent-handlers.js";

/** `/execute/kill` refuses the first process and the agent, because their end is the sandbox's end. */
const kept = [1, process.pid];
const listLimit = 1000;
const longestCommand = 1000;

export function processHandlers() {
  return {
    async listSystemProcesses() {
      const [table, users, ids] = await Promise.all([readProcessTable(listLimit), userNames(), processIds()]);
      const processes = await Promise.all(table.map((entry) => processFields(entry, users)));
      return { processes, count: processes.length, truncated: ids.length > listLimit, timestamp: now() };
    },
  } satisfies AgentHandlers;
}

/**
 * Kills a process that `/processes` lists, by its id there. Undefined if there is no such process. For clients that give a process's id in
 * place of an execution's.
 */
export async function killSystemProcess(id: string) {
  const pid = Number(id);
  if (!/^\d{1,10}$/.test(id) || kept.includes(pid) || !(await processIds()).includes(pid)) return undefined;
  kill(pid, "SIGKILL");
  return {
    success: true,
    process_id: id,
    status: "killed",
    message: `Process ${id} was killed.`,
    timestamp: now(),
  };
}

async function processFields(entry: ProcessEntry, users: ReadonlyMap<number, string>) {
  const age = uptime() - entry.startedAfter;
  return {
    pid: entry.pid,
    ppid: entry.ppid,
    name: entry.name,
    status: states[entry.state] ?? entry.state,
    cpu_percent: age > 0 ? Math.round((entry.cpuSeconds / age) * 10_000) / 100 : 0,
    memory_mb: Math.round((entry.residentKb / 1024) * 100) / 100,
    command: (await commandLine(entry)).slice(0, longestCommand),
    user: users.get(entry.uid) ?? String(entry.uid),
  };
}

const states: Readonly<Record<string, string>> = {
  R: "running",
  S: "sleeping",
  D: "waiting",
  T: "stopped",
  t: "stopped",
  Z: "zombie",
  I: "idle",
};

async function userNames(): Promise<Map<number, string>> {
  return new Map(
    (await readSystemFile("/etc/passwd")).split("\n").map((line) => {
      const [name = "", , uid] = line.split(":");
      return [Number(uid), name];
    }),
  );
}
