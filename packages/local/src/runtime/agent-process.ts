import { readFileSync } from "node:fs";
import { agentEntry } from "./machine-image.js";
import { processTree } from "./process-tree.js";

/** Whether the agent that process 1 of a machine started has been stopped, as by SIGSTOP. */
export async function isAgentStopped(init: number): Promise<boolean> {
  const tree = await processTree();
  return tree.children(init).some((pid) => tree.state(pid) === "T" && isAgent(pid, init));
}

/** Kills the agent of a machine, for its process 1 to start another; does nothing where `mayKill` says no by then. */
export async function killAgent(init: number, mayKill: () => boolean): Promise<void> {
  const tree = await processTree();
  if (!mayKill()) return;
  // Looked at again without a pause before the kill: by now its number may be another process's of the host.
  for (const pid of tree.children(init)) if (isAgent(pid, init)) tree.signal(pid, "SIGKILL");
}

/** An orphan of the sandbox's code may look like the agent. It is no loss. */
function isAgent(pid: number, init: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (
      Number(parent) === init && readFileSync(`/proc/${pid}/cmdline`, "utf8").endsWith(`${agentEntry}\0`)
    );
  } catch {
    // It has ended.
    return false;
  }
}
