import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { KeptOutput } from "./kept-output.js";

/** The next piece of an output, in the order it was written. */
interface FollowedPiece {
  readonly text: string;
  /** Number of bytes before this piece that were dropped before they could be read. */
  readonly skipped: number;
}

const pieceBytes = 64 * 1024;

/**
 * Follows an output until it ends. Reads from what is kept in memory or in the file, so a slow reader costs no extra
 * memory and does not block the program. Characters are never split.
 */
async function* follow(output: KeptOutput, signal: AbortSignal): AsyncGenerator<FollowedPiece> {
  let offset = 0;
  while (!signal.aborted) {
    // Read `isComplete` before the piece: if the output is complete now, nothing follows the last piece read below.
    const { bytes, isComplete } = output;
    const { text, start, end } = await output.piece(offset, pieceBytes);
    if (text !== "") yield { text, skipped: start - offset };
    offset = end;
    if (isComplete && offset >= bytes) return;
    if (text === "") await output.beyond(bytes, signal);
  }
}

/** The frames that carry an output until it ends. */
export async function* outputFrames(
  type: OutputFrame["type"],
  output: KeptOutput,
  signal: AbortSignal,
): AsyncGenerator<OutputFrame> {
  for await (const { text, skipped } of follow(output, signal)) {
    const timestamp = new Date().toISOString();
    yield { type, data: text, timestamp, ...(skipped > 0 && { skipped_bytes: skipped }) };
  }
}

type OutputFrame = AgentSchemas["OutputFrame"];
