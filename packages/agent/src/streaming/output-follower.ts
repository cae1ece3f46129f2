import type { KeptOutput } from "../execution/output/kept-output.js";

/** A part of an output, in the order it was written. */
export interface FollowedPiece {
  readonly text: string;
  /** Bytes before it that were no longer kept when their turn came. */
  readonly skipped: number;
}

const pieceBytes = 64 * 1024;

/**
 * An output while it is written, to its end. It is read from what is kept, so a slow reader costs no memory and holds
 * no program up. Characters are never split.
 */
export async function* follow(output: KeptOutput, signal: AbortSignal): AsyncGenerator<FollowedPiece> {
  let offset = 0;
  while (!signal.aborted) {
    // Asked before it is read: what is complete has no more to come.
    const { bytes, isComplete } = output;
    const { text, start, end } = await output.piece(offset, pieceBytes);
    if (text !== "") yield { text, skipped: start - offset };
    offset = end;
    if (isComplete && offset >= bytes) return;
    if (text === "") await output.beyond(bytes, signal);
  }
}
