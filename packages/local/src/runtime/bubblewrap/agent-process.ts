import { rename } from "node:fs/promises";
import { createServer } from "node:net";
import { childrenOf, readProcess, signalIfThere } from "../host/process-tree.js";
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

/**
 * A listening Unix socket for a machine's agent. This process creates the socket, and the machine inherits its
 * descriptor.
 *
 * The socket's path exists on the host only, so code in the sandbox can neither remove the socket nor put another one
 * in its place. A connection made before the agent has booted waits in the kernel's queue.
 */
export interface AgentSocket {
  readonly path: string;
  readonly descriptor: number;
  /** Closes this process's copy of the descriptor. The machine's copy stays open. */
  release(): void;
}

export async function listenForAgent(path: string): Promise<AgentSocket> {
  const unbound = `${path}.new`;
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(unbound, resolve);
  });
  // Closing a server unlinks the path it was bound to. The socket keeps listening under its new name.
  await rename(unbound, path);
  const descriptor = (server as typeof server & { _handle?: { fd?: number } })._handle?.fd;
  if (descriptor === undefined) {
    server.close();
    throw new Error(
      "This version of Node.js does not expose the file descriptor of a listening socket. Use another version.",
    );
  }
  return { path, descriptor, release: () => server.close() };
}
