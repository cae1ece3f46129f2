import { InvalidResponseError, reportIt } from "../errors/errors.js";

/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** Yields the events of a stream. Leaving the loop ends the call. */
export async function* serverSentEvents(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  // Load the parser with the first stream, because most programs read none.
  const { createParser } = await import("eventsource-parser");
  const arrived: ServerSentEvent[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: longestEvent,
    onEvent: ({ id, event, data }) => arrived.push({ id, event, data }),
    onError: ({ type }) => {
      isTooLong ||= type === "max-buffer-size-exceeded";
    },
  });
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      parser.feed(decoder.decode(chunk.value, { stream: true }));
      if (isTooLong) throw tooLong();
      yield* arrived.splice(0);
    }
  } finally {
    await reader.cancel();
  }
}

/** Largest accepted event, in characters. */
const longestEvent = 1024 * 1024;

function tooLong(): InvalidResponseError {
  return new InvalidResponseError({
    summary: "The server sent an event that does not end.",
    hint: reportIt,
    code: "INVALID_RESPONSE",
  });
}
