/** Clients often end a call after 60 seconds. A run that takes longer is detached: it continues in the background, and the result has its id. */
import type { Execution, ExecutionProgress, Sandbox } from "cloud-sandbox";
import { Answer } from "../results/answer.js";
import { readOutput } from "../results/process-output.js";
import { detachAfter } from "../settings.js";
import type { ToolContext } from "./definition/tool.js";

/** Seconds to wait if the run cannot be detached: longer than any run may take. */
const untilItsEnd = 86_400;

/**
 * Seconds that a call waits for a run before the run continues in the background. If the client is not offered
 * `reader`, the tool that reads the output later, the call waits until the run ends.
 */
export function detachAfterSeconds(
  { environment, offered }: Pick<ToolContext, "environment" | "offered">,
  reader = "execute_process_output",
): number {
  return offered.has(reader) ? detachAfter(environment) : untilItsEnd;
}

export interface DetachedFacts {
  readonly mode?: string;
  /** What the model must do after the run has ended. */
  readonly then?: string;
}

/** The answer for a run that continues in the background: its output so far, and the tool that reads the rest. */
export async function detached(
  sandbox: Sandbox,
  execution: Execution,
  { signal, offered }: Pick<ToolContext, "signal" | "offered">,
  { mode, then }: DetachedFacts = {},
) {
  const { structure, attachments } = await readOutput(sandbox, execution.id, {}, signal);
  const kill = offered.has("execute_kill_process") ? "; execute_kill_process ends it" : "";
  const going = structure.status === "running" ? `${goesOn}${kill}.` : structure.note;
  const note = [going, then].filter(Boolean).join(" ") || undefined;
  return new Answer({ ...structure, mode, note }, { attachments });
}

const goesOn =
  "The program still runs. execute_process_output with this sandbox_id and process_id waits for it and reads its further output";

/** Reports the progress of a program to the caller. */
export function runningReport(report: ToolContext["report"]): (progress: ExecutionProgress) => void {
  return ({ durationSeconds: duration = 0, stdoutBytes, stderrBytes, latest }) => {
    const line = lastLine(latest);
    const written = `${stdoutBytes + stderrBytes} bytes written`;
    report(`Running for ${Math.round(duration)} s, ${written}${line === "" ? "" : `: ${line}`}`);
  };
}

const longestLine = 200;

function lastLine(text: string): string {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  return line
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, longestLine);
}
