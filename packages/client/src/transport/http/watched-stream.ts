import type { CallScope } from "../calls/calls.js";
import type { Pieces } from "./transport.js";

export interface StreamWatch {
  scope: CallScope;
  /** Called when the stream is over, for any reason. */
  ended(): void;
  /** Starts the time limit on silence. Called before waiting for each chunk. */
  expectChunk(): void;
  /** Turns an error of the source into the error for the reader. */
  describe(error: unknown): unknown;
}

/**
 * A stream of the pieces: limits silence, types errors, and ends the call when the stream ends. A loop over the stream gets the
 * pieces themselves, because a web stream costs as much for each as writing it to a file.
 */
export function watchStream(pieces: Pieces, watch: StreamWatch): ReadableStream<Uint8Array> {
  const next: Pieces["next"] = async () => {
    watch.expectChunk();
    try {
      const piece = await pieces.next();
      watch.scope.unlimit();
      if (piece.done) watch.ended();
      return piece;
    } catch (error) {
      watch.ended();
      throw watch.describe(error);
    }
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await next();
        if (piece.done) controller.close();
        else controller.enqueue(piece.value);
      },
      cancel() {
        watch.ended();
        return pieces.leave();
      },
    },
    { highWaterMark: 0 },
  );
  return Object.assign(stream, {
    [Symbol.asyncIterator]() {
      // Lock the stream, as every reader does.
      const reader = stream.getReader();
      return { next, return: () => reader.cancel().then(() => ({ done: true })) };
    },
  });
}
