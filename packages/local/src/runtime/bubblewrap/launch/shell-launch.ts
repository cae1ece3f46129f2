import { existsSync } from "node:fs";

/**
 * The command of a shell that prepares a machine's first process and then runs the command after it. The shell exits if
 * this process died meanwhile, because then nothing else would end the machine. Otherwise it closes inherited
 * descriptors, tells the kernel to kill the machine first when memory runs out, enters the control groups, and runs the
 * lines in `limits`.
 */
export function becomeMachine(
  memberFiles: readonly string[],
  strayDescriptors: readonly number[],
  limits = "",
): [string, ...string[]] {
  // Use bash, because other shells cannot redirect descriptors above 9.
  const shell = strayDescriptors.length > 0 && existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
  const close = strayDescriptors.map((number) => `exec ${number}>&-; `).join("");
  const script = `[ "$PPID" = ${process.pid} ] || exit 125; ${close}echo 500 > /proc/self/oom_score_adj
prlimit --pid $$ --core=1:1 --nice=0:0 --rtprio=0:0 2>/dev/null || ulimit -c 0
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; ${limits}exec "$@"`;
  return [shell, "-c", script, "machine", ...memberFiles, "--"];
}

/** The command of a shell that enters the control groups and then runs the command after these arguments. */
export function enterGroups(memberFiles: readonly string[]): string[] {
  return ["/bin/sh", "-c", enterScript, "helper", ...memberFiles, "--"];
}

const enterScript = `while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"`;

/** The command line prefix that runs the command after it as `uid`. */
export function become(uid: number | undefined): string[] {
  if (uid === undefined) return [];
  return ["setpriv", "--reuid", String(uid), "--regid", String(uid), "--clear-groups"];
}
