import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { InstanceDirectory } from "./instance-directory.js";
import { uidLeaseDirectory } from "./uid-lease.js";

/**
 * Ends the machines of an instance whose process was killed, and removes what it kept.
 *
 * The kernel kills a machine with its parent, but not one that is frozen, and not one that is just being made. So a
 * shell waits for the end of a pipe which only this process holds, and then looks until nothing is left.
 */
export class InstanceGuard {
  readonly #child: ChildProcess;

  /**
   * Machines are known by the directory's path, which stands on the command line of each, and by being in `groups`. Of
   * all these nothing need be there yet.
   */
  constructor({ path, inMemory, instance }: InstanceDirectory, groups: readonly string[]) {
    this.#child = spawn("/bin/sh", ["-c", script, "cloud-sandbox-guard", ...groups], {
      cwd: "/",
      // Not on its own command line: it would take itself for a machine.
      env: {
        PATH: process.env.PATH ?? "/usr/bin:/bin",
        INSTANCE_DIRECTORY: path,
        INSTANCE_MEMORY: inMemory,
        INSTANCE: instance,
        LEASES: uidLeaseDirectory,
      },
      // In a session of its own: what ends a whole process group must leave it.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#child.unref();
    // Somebody may have killed it; the next start does its work then.
    this.#child.on("error", () => undefined);
    this.#child.stdin?.on("error", () => undefined);
  }

  /** Everything has ended as it should, and so does the guard. */
  async release(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.ref();
    this.#child.stdin?.end("\n");
    await exit;
  }
}

/** What has been killed may take a while to be gone, on a busy machine above all; only then can its groups be removed. */
const script = `
read -r released && exit 0
is_left() {
  for group in "$@"; do [ -d "$group" ] && return 0; done
  return 1
}
pass=0
quiet=0
pause=0.05
while [ "$pass" -lt 700 ]; do
  pass=$((pass + 1))
  quiet=$((quiet + 1))
  [ "$pass" -lt 100 ] || pause=1
  for group in "$@"; do
    for members in "$group"/*/cgroup.procs "$group"/*/*/cgroup.procs; do
      [ -r "$members" ] || continue
      while read -r pid; do kill -9 "$pid" && quiet=0; done < "$members"
    done
    for state in "$group"/*/freezer.state; do
      [ -w "$state" ] && echo THAWED > "$state"
    done
    for state in "$group"/*/*/cgroup.freeze; do
      [ -w "$state" ] && echo 0 > "$state"
    done
  done
  for file in $(printf %s "$INSTANCE_DIRECTORY" | grep -lsF -f - /proc/[0-9]*/cmdline); do
    pid=\${file#/proc/}
    kill -9 "\${pid%/cmdline}" && quiet=0
  done
  if [ "$quiet" -ge 5 ]; then
    for group in "$@"; do rmdir "$group"/*/* "$group"/* "$group"; done
    is_left "$@" || break
  fi
  sleep "$pause"
done
# A uid is somebody's for as long as a process of his may have it.
if ! is_left "$@"; then
  for lease in "$LEASES"/*; do
    [ "$(readlink "$lease")" = "$INSTANCE" ] && rm -f "$lease"
  done
  rmdir "$LEASES"
fi
rm -rf -- "$INSTANCE_DIRECTORY" "$INSTANCE_MEMORY"
`;
