import { readFileSync } from "node:fs";
import type { Sandbox } from "cloud-sandbox";
import { hostProcesses } from "./host-processes.js";

/** Kills a sandbox's agent: from inside if code there may signal it, otherwise from the host. */
export async function killAgent(sandbox: Sandbox): Promise<void> {
  const agent = separateAgent(sandbox.id);
  if (agent === undefined)
    await sandbox.execute("kill -9 $PPID", { language: "bash" }).catch(() => undefined);
  else process.kill(agent, "SIGKILL");
}

/** The host's pid of an agent that has a uid of its own. */
export function separateAgent(sandboxId: string): number | undefined {
  return hostProcesses().find(
    ({ pid, commandLine }) =>
      commandLine.endsWith("/agent/main.cjs") &&
      /^Uid:\s+(\d+)\s+(?!\1\s)/m.test(read(pid, "status")) &&
      read(pid, "environ").includes(sandboxId),
  )?.pid;
}

/** Empty if the process has ended or belongs to another user. */
function read(pid: number, file: "status" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
