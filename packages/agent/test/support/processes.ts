import { readdirSync, readFileSync } from "node:fs";

/** Pids of live processes whose command line or environment contains `text`. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && isLive(pid) && mentions(pid, text));
}

export function isLive(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`);
  return stat !== "" && !/\) [ZX] /.test(stat);
}

const mentions = (pid: number, text: string) =>
  read(`/proc/${pid}/cmdline`).includes(text) || read(`/proc/${pid}/environ`).includes(text);

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
