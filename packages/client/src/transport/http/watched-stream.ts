import type { CallScope } from "../calls/call-scope.js";

export interface StreamWatch {
  scope: CallScope;
  /** Called when it is over, however it ends. */
  ended(): void;
  /** Starts the limit on silence; called before each chunk is awaited. */
  expectChunk(): void;
  /** What the reader is told when the source breaks. */
  describe(error: unknown): unknown;
}

/** `source`, with a limit on silence and typed errors, ending its call when it ends. */
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
