const newline = 10;
const carriageReturn = 13;

/**
 * A `fetch` that breaks an answer off when one message in it is longer than `limit` bytes: an event of a stream of events, or the
 * whole of any other answer. The MCP client itself keeps what it reads, however long it is. `onExcess` returns the error.
 */
export function boundedFetch(limit: number, onExcess: () => Error): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, init);
    if (answer.body === null) return answer;
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const lengthOf = isStream ? eventLength() : totalLength();
    const bounded = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        if (lengthOf(piece) > limit) controller.error(onExcess());
        else controller.enqueue(piece);
      },
    });
    const { status, statusText, headers } = answer;
    return new Response(answer.body.pipeThrough(bounded), { status, statusText, headers });
  };
}

type LengthOf = (piece: Uint8Array) => number;

function totalLength(): LengthOf {
  let total = 0;
  return ({ length }) => {
    total += length;
    return total;
  };
}

/** The length of the longest event that has bytes in a piece. Events are separated by empty lines. */
function eventLength(): LengthOf {
  let event = 0;
  let line = 0;
  return (piece) => {
    let longest = 0;
    let start = 0;
    while (start < piece.length) {
      const end = piece.indexOf(newline, start);
      const next = end === -1 ? piece.length : end + 1;
      event += next - start;
      longest = Math.max(longest, event);
      line += next - start;
      if (end !== -1) {
        const isEmpty = line === 1 || (line === 2 && piece[end - 1] === carriageReturn);
        if (isEmpty) event = 0;
        line = 0;
      }
      start = next;
    }
    return longest;
  };
}
