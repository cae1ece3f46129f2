import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { OutputPiece } from "../handlers/agent/background-operations.js";
import type { KeptOutput } from "./kept-output.js";

const pieceBytes = 64 * 1024;

/**
 * Follows an output until it ends. Reads from what is kept in memory or in the file, so a slow reader costs no extra
 * memory; the program waits for it once no more can be kept. Characters are never split. `skipped`: bytes before a piece
 * that could not be kept, because the file could not be written.
 */
async function* follow(
  output: KeptOutput,
  signal: AbortSignal,
): AsyncGenerator<OutputPiece & { readonly skipped: number }> {
  let offset = 0;
  output.follow();
  try {
    while (!signal.aborted) {
      // Read `isComplete` before the piece: if the output is complete now, nothing follows the last piece read below.
      const { bytes, isComplete } = output;
      const piece = await output.piece(offset, pieceBytes);
      if (piece.text !== "") yield { ...piece, skipped: piece.start - offset };
      offset = piece.end;
      if (isComplete && offset >= bytes) return;
      if (piece.text === "") await output.beyond(bytes, signal);
    }
  } finally {
    output.leave();
  }
}

/** The frames that carry an output until it ends. */
export async function* outputFrames(
  type: OutputFrame["type"],
  output: KeptOutput,
  signal: AbortSignal,
): AsyncGenerator<OutputFrame> {
  for await (const { base64, skipped, text } of follow(output, signal)) {
    const timestamp = new Date().toISOString();
    const frame = { type, data: text, timestamp, ...(base64 !== undefined && { base64 }) };
    yield { ...frame, ...(skipped > 0 && { skipped_bytes: skipped }) };
  }
}

type OutputFrame = AgentSchemas["OutputFrame"];
