import type { ExecuteStreamFrame, TerminalFrame, WatchFrame } from "@cloud-sandbox/protocol";
import { isModestJson } from "@cloud-sandbox/protocol/bounded-answers";
import { InvalidResponseError, reportIt } from "../errors/errors.js";
import type { RequiredFields } from "../transport/answer-fields.js";

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

/** A received frame: a JSON object, not yet checked. */
export type RawFrame = Readonly<Record<string, unknown>>;

/** The frame that a text contains; undefined if it contains none. */
export function jsonObject(text: string): RawFrame | undefined {
  if (!isModestJson(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as RawFrame)
      : undefined;
  } catch {
    // The caller reports that the frame is not JSON.
    return undefined;
  }
}

/** Largest accepted line, in characters. */
const longestLine = 64 * 1024 * 1024;

/** Yields the frame of each line of a stream. Empty lines are skipped. Leaving the loop ends the call. */
export async function* frameLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<RawFrame, void, void> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let begun: string[] = [];
  let length = 0;
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const [first = "", ...others] = decoder.decode(chunk.value, { stream: true }).split("\n");
      begun.push(first);
      length += first.length;
      if (length > longestLine) throw invalidLine("a line that does not end");
      for (const other of others) {
        const line = begun.join("");
        begun = [other];
        length = other.length;
        if (line.trim() !== "") yield frameOf(line);
      }
    }
  } finally {
    await reader.cancel();
  }
}

function frameOf(line: string): RawFrame {
  const frame = jsonObject(line);
  if (frame === undefined) throw invalidLine("something that is not a valid frame");
  return frame;
}

function invalidLine(what: string): InvalidResponseError {
  return new InvalidResponseError({
    summary: `The server sent ${what} over a stream.`,
    hint: reportIt,
    code: "INVALID_FRAME",
  });
}
