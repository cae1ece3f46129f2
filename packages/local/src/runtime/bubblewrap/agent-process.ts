import { readFileSync } from "node:fs";
import { type ProcessTree, processTree } from "../host/process-tree.js";
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
  async isStopped(): Promise<boolean> {
    let states = this.#found.map((pid) => this.#state(pid));
    if (states.length === 0 || states.includes(undefined)) {
      this.#found = this.#candidates(await processTree());
      states = this.#found.map((pid) => this.#state(pid));
    }
    return states.includes("T");
  }

  /**
   * Kills the agent, after which process 1 starts a new one. Does nothing if `mayKill` returns false after the
   * processes were listed.
   */
  async kill(mayKill: () => boolean): Promise<void> {
    const tree = await processTree();
    if (!mayKill()) return;
    // Check the candidates again right before the kill, without an await in between: the kernel may have given a pid to
    // another process of the host.
    for (const pid of this.#candidates(tree)) tree.signal(pid, "SIGKILL");
  }

  #candidates(tree: ProcessTree): readonly number[] {
    const owner = realUid(this.init);
    return tree
      .children(this.init)
      .filter(
        (pid) =>
          this.#state(pid) !== undefined &&
          realUid(pid) === owner &&
          read(pid, "cmdline").endsWith(`${agentEntry}\0`),
      );
  }

  /**
   * The process state as the kernel writes it: `R`, `S`, `T`, … Undefined if the process is no longer a child of
   * process 1.
   */
  #state(pid: number): string | undefined {
    const stat = read(pid, "stat");
    // Split after the last parenthesis: the command name before it may hold spaces and parentheses.
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 2);
    return Number(parent) === this.init ? state : undefined;
  }
}

/**
 * The real uid of a process. Used to tell the agent from programs of the sandbox on hosts where these have different
 * uids.
 */
const realUid = (pid: number): string | undefined => /^Uid:\s(\d+)/m.exec(read(pid, "status"))?.[1];

/** Reads a file of the process in /proc. Empty if the process has ended. */
function read(pid: number, file: "stat" | "status" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
