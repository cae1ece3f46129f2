import type { AgentAccess } from "../agent/agent-access.js";
import { CallScope, unlessAborted } from "../transport/calls/calls.js";
import { successOf } from "../transport/contract-clients.js";
import type { Content } from "../transport/http/multipart.js";
import type { CallInit } from "../transport/openapi-client.js";
import { type ContentStream, contentSource, part } from "./file-content.js";

interface StreamOptions {
  signal: AbortSignal | undefined;
  /** Seconds until the answer must have arrived. Undefined: no limit. */
  requestTimeout: number | undefined;
  /** Seconds in which the server must take the next piece, and answer after the last one. */
  longestPause: number;
}

/**
 * Uploads a stream piece by piece, so that it is never in memory as a whole. It cannot be read again, so the request is not
 * repeated. Resolves with the server's answer and the number of bytes. Rejects with the stream's own error if it fails; the
 * server then keeps what was at the path.
 */
export async function sendStream(
  access: AgentAccess,
  path: string,
  content: ContentStream,
  { longestPause, requestTimeout, signal, ...options }: StreamOptions & UploadOptions,
) {
  const scope = new CallScope(signal);
  const source = contentSource(content);
  const encoder = new TextEncoder();
  let size = 0;
  let isAtEnd = false;
  let isOver = false;
  let failed: { error: unknown } | undefined;
  const next = async (): Promise<Uint8Array | undefined> => {
    // The time that the stream itself takes is not the server's.
    scope.unlimit();
    try {
      for (;;) {
        const pending = source.next();
        // Cancelling the stream rejects this pending read; without a handler that would be an unhandled rejection.
        pending.catch(() => undefined);
        const { done, value } = await unlessAborted(pending, scope);
        if (done) {
          isAtEnd = true;
          return undefined;
        }
        const piece = part(value);
        const bytes = typeof piece === "string" ? encoder.encode(piece) : piece;
        size += bytes.length;
        if (bytes.length > 0) return bytes;
      }
    } catch (error) {
      failed ??= { error };
      throw error;
    } finally {
      if (!isOver)
        scope.limit({ seconds: longestPause, kind: "request", passed: "The server did not take the stream" });
    }
  };
  try {
    scope.throwIfAborted();
    // A stream that fails at once needs no request.
    let first = await next();
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const piece = first ?? (isAtEnd ? undefined : await next());
          first = undefined;
          if (piece === undefined) controller.close();
          else controller.enqueue(piece);
        },
      },
      { highWaterMark: 0 },
    );
    const init = { signal: scope.abortSignal, requestTimeout: requestTimeout ?? Number.POSITIVE_INFINITY };
    return { wire: await sendFile(access, path, body, { ...options, init }), size };
  } catch (error) {
    throw scope.failure ?? (failed === undefined ? error : failed.error);
  } finally {
    isOver = true;
    scope.end();
    if (!isAtEnd) source.leave();
  }
}

/** How to write a file. Only servers with this project's extensions take these options for uploads. */
interface UploadOptions {
  /** Permissions in octal. */
  mode?: string;
  overwrite?: boolean;
}

/** Uploads a file (POST /files/upload), without a form around it where that is possible, because a form has to be parsed. */
export function sendFile(
  { client, isExtended }: AgentAccess,
  path: string,
  file: Content | ReadableStream<Uint8Array>,
  { init, ...options }: UploadOptions & { init: CallInit },
) {
  const bare = { params: { query: { path, ...options } }, body: file, ...init };
  // Send the body without a form only if it has no file name: a form also carries the name, which the server appends to
  // a directory. Without a name it would append "blob".
  const isBare = isExtended && !("name" in file);
  if (isBare || "getReader" in file) return successOf(client.POST("/files/upload", bare));
  const form = { params: { query: options }, body: { file, path }, ...init };
  return successOf(client.POST("/files/upload", form));
}
