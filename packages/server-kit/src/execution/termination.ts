import { constants } from "node:os";
import type { Termination } from "../handlers/agent/outcome.js";

/** Why a program was ended; undefined if it ended by itself. */
export type Intervention = "timeout" | "killed" | undefined;

export function termination(
  code: number | null,
  signal: NodeJS.Signals | null,
  intervention: Intervention,
  outOfMemory: boolean,
): Termination {
  if (intervention === "timeout") return { reason: "timeout", exitCode: 124 };
  if (intervention === "killed") return { reason: "killed", exitCode: 137 };
  if (outOfMemory) return { reason: "out_of_memory", exitCode: 137 };
  if (signal !== null) return { reason: "signal", exitCode: 128 + constants.signals[signal] };
  return { reason: "exit", exitCode: code ?? 1 };
}

/** Appends `line` to `text` as a separate line. */
export const withLine = (text: string, line: string) =>
  `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`;
