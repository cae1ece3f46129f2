import type { CallScope } from "../calls/call-scope.js";

export interface StreamWatch {
  scope: CallScope;
  /** Called when the stream is over, for any reason. */
  ended(): void;
  /** Starts the time limit on silence. Called before waiting for each chunk. */
  expectChunk(): void;
  /** Turns an error of the source into the error for the reader. */
  describe(error: unknown): unknown;
}

/** Wraps `source`: limits silence, types errors, and ends the call when the stream ends. */
export function watchStream(
  source: ReadableStream<Uint8Array>,
  watch: StreamWatch,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        watch.expectChunk();
        try {
          const chunk = await reader.read();
          watch.scope.unlimit();
          if (!chunk.done) return controller.enqueue(chunk.value);
          watch.ended();
          controller.close();
        } catch (error) {
          watch.ended();
          controller.error(watch.describe(error));
        }
      },
      async cancel(reason) {
        watch.ended();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
