import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { InstanceDirectory } from "./instance-directory.js";
import { uidLeaseDirectory } from "./uid-lease.js";

/**
 * A shell process that cleans up if this process is killed: it kills the machines of this instance and removes its
 * files.
 *
 * The kernel kills a machine when its parent dies, but not a machine that is frozen or just being created. So the shell
 * waits until a pipe that only this process holds is closed, and then kills and removes until nothing is left.
 */
export class InstanceGuard {
  readonly #child: ChildProcess;

  /**
   * The guard finds machines by the instance directory's path, which is on their command lines, and by the control
   * groups `groups`. Neither the directory nor the groups need to exist yet.
   */
  constructor(
    private readonly directory: InstanceDirectory,
    groups: readonly string[],
  ) {
    const { path, inMemory, instance } = directory;
    this.#child = spawn("/bin/sh", ["-c", script, "cloud-sandbox-guard", ...groups], {
      cwd: "/",
      // Pass the path in the environment, not as an argument: with the path on its command line, the guard would kill
      // itself.
      env: {
        PATH: process.env.PATH ?? "/usr/bin:/bin",
        INSTANCE_DIRECTORY: path,
        INSTANCE_MEMORY: inMemory,
        INSTANCE: instance,
        REMOVAL: removal,
        LEASES: uidLeaseDirectory,
      },
      // Give the guard its own session, so that a signal to this process's group does not end the guard.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#child.unref();
    // Ignore errors: if somebody killed the guard, the next start of a control plane cleans up.
    this.#child.on("error", () => undefined);
    this.#child.stdin?.on("error", () => undefined);
  }

  /** Makes the guard remove the directory, and go on waiting. Call it when nothing uses the directory's files any more. */
  removeDirectory(): void {
    this.#child.stdin?.write("\n");
  }

  /** Ends the guard after this process has cleaned up itself. The guard has removed the directory then. */
  async release(): Promise<void> {
    const child = this.#child;
    const isRunning = child.pid !== undefined && child.exitCode === null && child.signalCode === null;
    if (isRunning) {
      const exit = once(child, "exit");
      child.ref();
      // The first line removes the directory, the next one ends the guard; it ignores further ones.
      child.stdin?.end("\n\n");
      await exit;
    }
    // Somebody killed the guard.
    if (child.exitCode !== 0) await this.directory.remove();
    this.directory.hideAlive();
  }
}

/**
 * Removes listed directories that are known to be empty (install-directories.pl), which takes a system call for each. What
 * remains is left to `rm`, which lists each directory: for a thousand of them, that takes twice as long.
 */
const removal = `local $/ = "\\0"; chomp(my @directories = <STDIN>); rmdir for reverse @directories`;

/**
 * The guard's shell script. It kills and removes repeatedly, because killed processes may take seconds to end on a busy
 * machine, and their control groups can be removed only after that.
 */
const script = `
remove() {
  skeleton="$INSTANCE_MEMORY/skeleton/usr"
  if [ -s "$skeleton.list" ]; then (cd "$skeleton" && perl -e "$REMOVAL" < ../usr.list); fi
  rm -rf -- "$INSTANCE_DIRECTORY" "$INSTANCE_MEMORY"
}
if read -r removed; then
  remove
  isRemoved=$?
  read -r released && exit "$isRemoved"
fi
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
# Release the uids only when all groups are gone: until then processes with these uids may run.
if ! is_left "$@"; then
  for lease in "$LEASES"/*; do
    [ "$(readlink "$lease")" = "$INSTANCE" ] && rm -f "$lease"
  done
  rmdir "$LEASES"
fi
remove
for place in "$INSTANCE_DIRECTORY" "$INSTANCE_MEMORY"; do rm -f -- "\${place%/*}/cloud-sandbox-$INSTANCE.life"; done
`;
