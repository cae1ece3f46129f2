import { type ContractService, Problem, Reply, type ServedRequest } from "@cloud-sandbox/server-kit/portable";
import type { ServerSocket } from "./memory-socket.js";

/** Serves an accepted WebSocket. */
export type Attend = (socket: ServerSocket) => void;

/** A request that stays in memory. Iterating it yields its body. */
export class MemoryRequest implements ServedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  #attend: Attend | undefined;

  constructor(
    readonly source: Request,
    /** Path and query, as the service knows them. */
    readonly url: string,
    private readonly isUpgrade = false,
  ) {
    this.method = source.method;
    // Set the header that a body has on the wire: services look at it to see whether there is a body.
    const framed = source.body === null ? {} : { "transfer-encoding": "chunked" };
    this.headers = { ...Object.fromEntries(source.headers), ...framed };
  }

  /** Serves the request's WebSocket; defined once the request was upgraded. */
  get attend(): Attend | undefined {
    return this.#attend;
  }

  /** Accepts a request as a WebSocket. */
  upgrade(attend: Attend): Reply<undefined> {
    if (!this.isUpgrade) {
      const headers = { upgrade: "websocket" };
      throw new Problem(400, "INVALID_REQUEST", "This is a WebSocket: connect with an upgrade.", { headers });
    }
    this.#attend = attend;
    return new Reply(undefined, {}, 101);
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return iterateStream(this.source.body);
  }
}

/** Types for serving an API in memory. */
export interface MemoryExchange {
  readonly request: MemoryRequest;
  readonly stream: AsyncGenerator<string | Uint8Array>;
}

export type MemoryService = ContractService<MemoryExchange>;
export type MemoryReply = Awaited<ReturnType<MemoryService>>;

/** Converts a service's reply into a `Response`. `left` is called when its reader stops before the end. */
export function responseOf(
  { body, headers, status }: MemoryReply,
  request: Request,
  left: () => void,
): Response {
  const isEmpty = body === undefined || request.method === "HEAD" || status === 204;
  const content = isEmpty ? null : isBytes(body) ? body : streamOf(body, left);
  return new Response(content, { status, headers: { ...headers } });
}

const isBytes = (body: unknown): body is string | Uint8Array =>
  typeof body === "string" || body instanceof Uint8Array;

const encoder = new TextEncoder();

function streamOf(pieces: AsyncGenerator<string | Uint8Array>, left: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
    },
    async cancel() {
      left();
      await pieces.return(undefined);
    },
  });
}

/** Iterates over a stream. Needed because browsers cannot do that themselves yet. */
async function* iterateStream(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = stream?.getReader();
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read())
    yield piece.value;
}
