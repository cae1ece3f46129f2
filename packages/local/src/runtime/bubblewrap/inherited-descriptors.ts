import { readdirSync, readFileSync } from "node:fs";

/**
 * File descriptors that this process was started with and that its children would inherit in turn.
 *
 * Node marks its own close-on-exec, but not every one it was given (a shell's, a job runner's). None of them
 * may reach a sandbox.
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
    // The descriptor of the listing itself, gone by now.
    return true;
  }
}
