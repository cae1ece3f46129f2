import { readFileSync } from "node:fs";

/** Milliseconds that all processors together have worked since the machine was started. */
export function busyMs() {
  const [, user, nice, system, , , interrupt, softInterrupt] = readFileSync("/proc/stat", "utf8")
    .split("\n", 1)[0]
    .split(/\s+/)
    .map(Number);
  // /proc/stat is in hundredths of a second on every Linux, whatever the frequency of the kernel's clock.
  return (user + nice + system + interrupt + softInterrupt) * 10;
}
