import { readdirSync, readFileSync } from "node:fs";

/**
 * Numbers of the file descriptors that a child of this process would inherit. They are to be closed before a sandbox
 * starts.
 *
 * Node.js marks the descriptors that it opens as close-on-exec, but not all of those that this process was started with
 * (by a shell or a job runner).
 */
export function inheritableDescriptors(): number[] {
  const numbers = readdirSync("/proc/self/fd").map(Number);
  return numbers.filter((number) => number > 2 && !isCloseOnExec(number));
}

function isCloseOnExec(number: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & 0o2000000) !== 0;
  } catch {
    // The descriptor belonged to the directory listing above and is closed by now.
    return true;
  }
}
