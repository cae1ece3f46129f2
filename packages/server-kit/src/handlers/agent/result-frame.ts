import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "../../http/problem.js";
import { notStarted, type Outcome, outcomeFields, type RichOutput } from "./outcome.js";

/**
 * Most characters of all displayed values in a result frame, unless the client said that it accepts more: some
 * clients reject frames of 1 MiB.
 */
const richLimit = 512 * 1024;

/**
 * The WebSocket frame that reports how a program ended. It does not repeat the output, which earlier frames
 * contained.
 */
export function resultFrame(outcome: Outcome, takesAll: boolean): AgentSchemas["ResultFrame"] {
  const { success: _success, stdout: _stdout, stderr: _stderr, ...fields } = outcomeFields(outcome);
  const { result, displays, displaysDropped = 0 } = outcome;
  const included = displays && (takesAll ? displays : fittingDisplays(displays));
  const dropped = displaysDropped + (displays?.length ?? 0) - (included?.length ?? 0);
  return {
    type: "result",
    ...fields,
    ...(result !== undefined && { result }),
    ...(included && { rich_outputs: [...included] }),
    ...(dropped > 0 && { rich_outputs_dropped: dropped }),
  };
}

/** The frames for a command that could not be started: as in a shell, its end and a message, not a failure of the stream. */
export function notStartedFrames(message: string, exitCode: number) {
  const outcome = notStarted(message, exitCode);
  const timestamp = new Date().toISOString();
  return [{ type: "stderr", data: outcome.stderr.text, timestamp }, resultFrame(outcome, false)] as const;
}

function fittingDisplays(displays: readonly RichOutput[]): RichOutput[] {
  let remaining = richLimit;
  return displays.filter((display) => {
    const { length } = JSON.stringify(display);
    if (length > remaining) return false;
    remaining -= length;
    return true;
  });
}

/**
 * Turns an error into a WebSocket frame. A `Problem` is sent to the client; any other error is logged, and the client
 * only learns that something went wrong.
 */
export function errorFrame(error: unknown): AgentSchemas["ErrorFrame"] {
  const timestamp = new Date().toISOString();
  if (error instanceof Problem) {
    const { message, hint, code, details } = error;
    const path = typeof details?.path === "string" && { path: details.path };
    const advice = hint !== undefined && { hint };
    return { type: "error", error: message, message, ...advice, code, ...path, timestamp };
  }
  console.error("WebSocket:", error);
  return {
    type: "error",
    error:
      "The sandbox's agent failed for an internal reason, which is in its log. Try again, or use a new sandbox.",
    code: "INTERNAL_ERROR",
    timestamp,
  };
}
