import { InvalidResponseError, reportIt } from "../errors/errors.js";
import { jsonObject, type RawFrame } from "./raw-frame.js";

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
