/** Runs that outlive the patience of clients, which often end a call after 60 seconds. */
import type { Execution, ExecutionProgress, Sandbox } from "cloud-sandbox";
import { Answer } from "../results/answer.js";
import { readOutput } from "../results/process-output.js";
import { handOverAfter } from "../settings/hand-over-after.js";
import type { ToolContext } from "./definition/tool.js";

/** Longer than anything takes that a call waits for, in seconds. */
const untilItsEnd = 86_400;

/** Seconds that a call waits before it hands over what can be looked at with `reader`: to the end, where that is not offered. */
export function patience(
  { environment, offered }: Pick<ToolContext, "environment" | "offered">,
  reader = "execute_process_output",
): number {
  return offered.has(reader) ? handOverAfter(environment) : untilItsEnd;
}

export interface HandedOverFacts {
  readonly mode?: string;
  /** What is left to do after it. */
  readonly then?: string;
}

/** What the model gets in place of the result, and how it goes on. */
export async function handedOver(
  sandbox: Sandbox,
  execution: Execution,
  { signal, offered }: Pick<ToolContext, "signal" | "offered">,
  { mode, then }: HandedOverFacts = {},
) {
  const { structure, attachments } = await readOutput(sandbox, execution.id, {}, signal);
  const kill = offered.has("execute_kill_process") ? "; execute_kill_process ends it" : "";
  const going = structure.status === "running" ? `${goesOn}${kill}.` : structure.note;
  const note = [going, then].filter(Boolean).join(" ") || undefined;
  return new Answer({ ...structure, mode, note }, { attachments });
}

const goesOn =
  "It still runs, and goes on. execute_process_output with this sandbox_id and process_id waits for it and reads on";

/** Tells a caller how far a program is. */
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
