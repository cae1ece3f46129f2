import { childrenOf, readProcess } from "../host/process-tree.js";
import { signalIfThere } from "../host/signal-if-there.js";
import { textOf } from "../host/text-of.js";
import { agentEntry } from "./machine-image.js";

/**
 * Finds, checks and kills a machine's agent from the host, where the agent is a child process of the machine's process
 * 1.
 */
export class AgentProcess {
  /**
   * Host pids of the agent, and of orphaned processes that code in the sandbox made look like the agent. They are killed
   * together; killing such an orphan does no harm.
   */
  #found: readonly number[] = [];

  constructor(private readonly init: number) {}

  /**
   * Whether the agent has been stopped, for example by SIGSTOP. Called often, so if the agent's pid is still valid,
   * only one file in /proc is read.
   */
  isStopped(): boolean {
    let states = this.#found.map((pid) => this.#state(pid));
    if (states.length === 0 || states.includes(undefined)) {
      this.#found = this.#candidates();
      states = this.#found.map((pid) => this.#state(pid));
    }
    return states.includes("T");
  }

  /** Kills the agent, after which process 1 starts a new one. */
  kill(): void {
    for (const pid of this.#candidates()) signalIfThere(pid, "SIGKILL");
  }

  #candidates(): readonly number[] {
    const owner = realUid(this.init);
    return childrenOf(this.init).filter(
      (pid) =>
        this.#state(pid) !== undefined &&
        realUid(pid) === owner &&
        textOf(`/proc/${pid}/cmdline`).endsWith(`${agentEntry}\0`),
    );
  }

  /**
   * The process state as the kernel writes it: `R`, `S`, `T`, … Undefined if the process is no longer a child of
   * process 1.
   */
  #state(pid: number): string | undefined {
    const process = readProcess(pid);
    return process?.parent === this.init ? process.state : undefined;
  }
}

/**
 * The real uid of a process. Used to tell the agent from programs of the sandbox on hosts where these have different
 * uids.
 */
const realUid = (pid: number): string | undefined => /^Uid:\s(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1];
