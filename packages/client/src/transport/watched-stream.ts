import type { CallScope } from "./call-scope.js";

export interface StreamWatch {
  scope: CallScope;
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
          watch.scope.end();
          controller.close();
        } catch (error) {
          watch.scope.end();
          controller.error(watch.describe(error));
        }
      },
      async cancel(reason) {
        watch.scope.end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
