import { readdirSync, readFileSync } from "node:fs";

/** A process and all that it started, by their numbers. */
export function familyOf(ancestor) {
  const parents = new Map();
  for (const entry of readdirSync("/proc")) {
    if (/^\d+$/.test(entry)) parents.set(Number(entry), fieldsOf(entry)?.parent);
  }
  const isFamily = (pid) => pid === ancestor || (parents.has(pid) && isFamily(parents.get(pid)));
  return [...parents.keys()].filter(isFamily);
}

/** Proportional memory (PSS) in MiB: shared pages count by their share, so this is what would be free without these processes. */
export function proportionalMemory(pids) {
  const kilobytes = pids.map((pid) =>
    Number(/^Pss:\s+(\d+)/m.exec(read(pid, "smaps_rollup") ?? "")?.[1] ?? 0),
  );
  return kilobytes.reduce((sum, size) => sum + size, 0) / 1024;
}

/** Memory in MB that a process holds, shared or not. */
export function residentMemory(pid) {
  return (Number(/^VmRSS:\s+(\d+)/m.exec(read(pid, "status") ?? "")?.[1] ?? 0) * 1024) / 1e6;
}

/** Seconds of CPU that these processes have used. */
export function processorSeconds(pids) {
  // The kernel counts in hundredths of a second, whatever its own clock.
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
