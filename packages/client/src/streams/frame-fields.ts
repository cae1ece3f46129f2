import type { ExecuteStreamFrame, TerminalFrame, WatchFrame } from "@cloud-sandbox/protocol";
import type { RequiredFields } from "../transport/answers/required-fields.js";

/** The required fields of each frame type of a stream. Frames of other types come from newer servers and are skipped. */
export type FrameFields<Frame extends { type: string }> = Readonly<Record<Frame["type"], RequiredFields>>;

export const executeFrames: FrameFields<ExecuteStreamFrame> = {
  stdout: { data: "string" },
  stderr: { data: "string" },
  result: { exit_code: "number" },
  error: { error: "string" },
  complete: { success: "boolean" },
};

export const terminalFrames: FrameFields<TerminalFrame> = {
  attached: { kept_seconds: "number", taken: "number", skipped_bytes: "number" },
  output: { data: "string" },
  exit: { code: "number" },
  error: { error: "string" },
};

export const watchFrames: FrameFields<WatchFrame> = {
  change: { path: "string", event: "string" },
  ready: { path: "string" },
  error: { error: "string" },
};
