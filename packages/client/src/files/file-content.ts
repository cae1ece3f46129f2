import { invalidArgument, type ValidationError } from "../errors/errors.js";
import { CallScope, unlessAborted } from "../transport/calls/calls.js";

/** Content for a file. A web or Node.js stream must yield bytes or text, and is read to its end. */
export type FileContent =
  | string
  | Uint8Array
  | Blob
  | ReadableStream<Uint8Array | string>
  | AsyncIterable<Uint8Array | string>;

/** A web or Node.js stream of bytes or text. */
export type ContentStream = Exclude<FileContent, string | Uint8Array | Blob>;

export function isContentStream(content: FileContent): content is ContentStream {
  return typeof content !== "string" && !(content instanceof Blob) && !ArrayBuffer.isView(content);
}

/**
 * `content` with a stream read into one `Blob`. Throws for other objects, which would be written as "[object Object]".
 */
export async function wholeContent(
  content: FileContent,
  signal: AbortSignal | undefined,
): Promise<string | Uint8Array | Blob> {
  if (typeof content === "string" || content instanceof Blob) return content;
  if (ArrayBuffer.isView(content)) return bytesOf(content);
  const source = contentSource(content);
  const scope = new CallScope(signal);
  const parts: Array<string | Uint8Array> = [];
  let isAtEnd = false;
  try {
    while (!isAtEnd) {
      const pending = source.next();
      // Cancelling the stream rejects this pending read; without a handler that would be an unhandled rejection.
      pending.catch(ignore);
      const { done, value } = await unlessAborted(pending, scope);
      if (done) isAtEnd = true;
      else parts.push(part(value));
    }
    return new Blob(parts);
  } finally {
    scope.end();
    if (!isAtEnd) source.leave();
  }
}

/** The pieces of a stream. Throws for anything else, which would be written as "[object Object]". */
export function contentSource(content: unknown): Source {
  const source = sourceOf(content);
  if (source === undefined) throw invalidArgument("content must be text, a Uint8Array, a Blob or a stream.");
  return source;
}

interface Source {
  next(): Promise<{ done?: boolean | undefined; value?: unknown }>;
  /** Cancels the stream, even while `next` is waiting. */
  leave(): void;
}

function sourceOf(content: unknown): Source | undefined {
  if (content instanceof ReadableStream) {
    if (content.locked) throw alreadyRead();
    const reader = content.getReader();
    return { next: () => reader.read(), leave: () => void reader.cancel().catch(ignore) };
  }
  if (!isAsyncIterable(content)) return undefined;
  if ("readableEnded" in content && content.readableEnded === true) throw alreadyRead();
  const iterator = content[Symbol.asyncIterator]();
  const leave = (): void => {
    if ("destroy" in content && typeof content.destroy === "function") content.destroy();
    else iterator.return?.().catch(ignore);
  };
  return { next: () => iterator.next(), leave };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    Symbol.asyncIterator in value &&
    typeof value[Symbol.asyncIterator] === "function"
  );
}

export function part(chunk: unknown): string | Uint8Array {
  if (typeof chunk === "string") return chunk;
  if (ArrayBuffer.isView(chunk)) return bytesOf(chunk).slice();
  throw invalidArgument("content must be a stream of text or bytes; it yields something else.");
}

function bytesOf({ buffer, byteLength, byteOffset }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function alreadyRead(): ValidationError {
  return invalidArgument("content is a stream that was already read.", "Give a new stream.");
}

function ignore(): void {
  // Nothing to do: the caller receives the error for which the stream was cancelled.
}
