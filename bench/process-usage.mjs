import { readdirSync, readFileSync } from "node:fs";

/** The pids of a process and all its descendants. */
export function familyOf(ancestor) {
  return familiesOf((pid) => pid === ancestor);
}

/** The pids of processes and all their descendants. */
export function familiesOf(isAncestor) {
  const parents = new Map();
  for (const entry of readdirSync("/proc")) {
    if (/^\d+$/.test(entry)) parents.set(Number(entry), fieldsOf(entry)?.parent);
  }
  const isFamily = (pid) => isAncestor(pid) || (parents.has(pid) && isFamily(parents.get(pid)));
  return [...parents.keys()].filter(isFamily);
}

/** Whether a process was started with a command line that contains a text. */
export function isStartedWith(pid, text) {
  return read(pid, "cmdline")?.includes(text) === true;
}

/**
 * Proportional memory (PSS) in MiB. A page that several processes share counts by shares, so this is the memory that
 * would be free without these processes.
 */
export function proportionalMemory(pids) {
  const kilobytes = pids.map((pid) =>
    Number(/^Pss:\s+(\d+)/m.exec(read(pid, "smaps_rollup") ?? "")?.[1] ?? 0),
  );
  return kilobytes.reduce((sum, size) => sum + size, 0) / 1024;
}

/** Resident memory of a process in MB, shared pages included. */
export function residentMemory(pid) {
  return (Number(/^VmRSS:\s+(\d+)/m.exec(read(pid, "status") ?? "")?.[1] ?? 0) * 1024) / 1e6;
}

/** Seconds of CPU that these processes have used since they were started. */
export function processorSeconds(pids) {
  // /proc/PID/stat is in hundredths of a second on every Linux, whatever the frequency of the kernel's clock.
  return pids.reduce((sum, pid) => sum + (fieldsOf(pid)?.ticks ?? 0), 0) / 100;
}

function fieldsOf(pid) {
  const text = read(pid, "stat");
  if (text === undefined) return undefined;
  // Split after the last parenthesis: the process name before it may hold spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
}

function read(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    // The process has ended.
    return undefined;
  }
}
