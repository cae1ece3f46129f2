import { readFileSync } from "node:fs";
import { type ProcessTree, processTree } from "../host/process-tree.js";
import { agentEntry } from "./machine-image.js";

/** Finds, checks and kills the agent of a machine. On the host it is a child of the machine's process 1. */
export class AgentProcess {
  /** The agent, and orphans of the sandbox's code that look like it: those are no loss. */
  #found: readonly number[] = [];

  constructor(private readonly init: number) {}

  /** Whether it has been stopped, as by SIGSTOP. Asked often: where nothing has changed, one file is read. */
  async isStopped(): Promise<boolean> {
    let states = this.#found.map((pid) => this.#state(pid));
    if (states.length === 0 || states.includes(undefined)) {
      this.#found = this.#candidates(await processTree());
      states = this.#found.map((pid) => this.#state(pid));
    }
    return states.includes("T");
  }

  /** Kills it, for process 1 to start another; does nothing where `mayKill` says no by then. */
  async kill(mayKill: () => boolean): Promise<void> {
    const tree = await processTree();
    if (!mayKill()) return;
    // Looked at again without a pause before the kill: by now its number may be another process's of the host.
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

  /** As the kernel names it; undefined once it is no child of process 1. */
  #state(pid: number): string | undefined {
    const stat = read(pid, "stat");
    // Split after the last parenthesis: the command name before it may hold spaces and parentheses.
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 2);
    return Number(parent) === this.init ? state : undefined;
  }
}

/** Code has the agent's, or another where the agent has one of its own. */
const realUid = (pid: number): string | undefined => /^Uid:\s(\d+)/m.exec(read(pid, "status"))?.[1];

/** Empty when it has ended. */
function read(pid: number, file: "stat" | "status" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
