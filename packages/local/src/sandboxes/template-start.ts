import { setTimeout as sleep } from "node:timers/promises";
import { templateDoesNotStart } from "@cloud-sandbox/server-kit/handlers";
import type { AgentCalls } from "../agents/agent-calls.js";
import type { ReadyCheck } from "../catalogue/ready-check.js";
import type { LocalTemplate } from "../catalogue/template-catalogue.js";
import type { Machine } from "../runtime/sandbox-runtime.js";

const checkSeconds = 15;
const logFile = "/var/log/start-command.log";

/**
 * Runs the template's start command in a machine and resolves when its ready check passes.
 * @throws a 409 problem when the check does not pass in time. Not a 503, because a retry would fail the same way.
 */
export async function startTemplate(
  agents: AgentCalls,
  machine: Machine,
  { name, built }: LocalTemplate,
): Promise<void> {
  if (built?.startCommand === undefined && built?.readyCheck === undefined) return;
  if (built.startCommand !== undefined) {
    await run(
      agents,
      machine,
      `setsid nohup bash -c "$START" >${logFile} 2>&1 </dev/null &`,
      { START: built.startCommand },
      built.workdir,
    );
  }
  if (built.readyCheck === undefined) return;
  const { readyCheck } = built;
  if (await passes(agents, machine, readyCheck)) return;
  const { output } = await run(agents, machine, `tail -c 2000 ${logFile}`, {}, "/");
  const reason = `The ready check (${readyCheck.description}) did not pass within ${readyCheck.timeoutMs / 1000} s.`;
  const printed = output.trim();
  throw templateDoesNotStart(
    name,
    printed === "" ? reason : `${reason} The start command printed: ${printed}`,
  );
}

async function passes(
  agents: AgentCalls,
  machine: Machine,
  { script, value, timeoutMs, intervalMs }: ReadyCheck,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const { exitCode } = await run(agents, machine, script, { CHECK: value }, "/");
    if (exitCode === 0) return true;
    if (Date.now() + intervalMs > deadline) return false;
    await sleep(intervalMs);
  }
}

async function run(
  agents: AgentCalls,
  machine: Machine,
  script: string,
  env: Readonly<Record<string, string>>,
  workdir: string,
): Promise<{ exitCode: number; output: string }> {
  const answer = await agents.ask(machine, {
    method: "POST",
    path: "/commands/run",
    body: { command: "bash", args: ["-c", script], env, workdir, timeout: checkSeconds },
    signal: AbortSignal.timeout((checkSeconds + 15) * 1000),
  });
  return { exitCode: Number(answer.exit_code), output: String(answer.stdout) };
}
