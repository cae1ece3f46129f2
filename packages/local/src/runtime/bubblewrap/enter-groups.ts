import { existsSync } from "node:fs";

/**
 * A shell that ends when this process has ended before it began, which nothing else would notice. It enters the control
 * groups, offers itself to the kernel when memory runs out, closes what this process
 * was started with, and becomes the machine.
 */
export function becomeMachine(memberFiles: readonly string[], strayDescriptors: readonly number[]): string[] {
  // bash, because other shells cannot redirect descriptors above 9.
  const shell = strayDescriptors.length > 0 && existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
  const close = strayDescriptors.map((number) => `exec ${number}>&-; `).join("");
  const script = `[ "$PPID" = ${process.pid} ] || exit 125; ${close}echo 500 > /proc/self/oom_score_adj
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"`;
  return [shell, "-c", script, "machine", ...memberFiles, "--"];
}

/** A shell that enters control groups and becomes the command that follows these arguments. */
export function enterGroups(memberFiles: readonly string[]): string[] {
  return ["/bin/sh", "-c", enterScript, "helper", ...memberFiles, "--"];
}

const enterScript = `while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"`;
