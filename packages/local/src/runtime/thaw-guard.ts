import { type ChildProcess, spawn } from "node:child_process";

/**
 * Thaws a frozen group when this process ends without being able to. A process of the older freezer dies only when it is
 * thawed, so a paused machine would outlive a control plane that was killed.
 *
 * It is a shell that waits for the end of a pipe which only this process holds.
 */
export class ThawGuard {
  readonly #child: ChildProcess;

  constructor(stateFile: string) {
    this.#child = spawn("/bin/sh", ["-c", 'read -r released || echo THAWED > "$0"', stateFile], {
      // In a session of its own: an interrupt of the terminal must not take it before its time.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#child.unref();
    // It may have been killed; then there is nobody to release.
    this.#child.stdin?.on("error", () => this.#child.stdin?.destroy());
  }

  release(): void {
    this.#child.stdin?.end("\n");
  }
}
