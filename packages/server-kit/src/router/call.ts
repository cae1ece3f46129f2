import type { Operation } from "../contract/contract.js";
import { type Exchange, headerOf, type NodeExchange } from "../http/exchange.js";

/** One request as a handler sees it: its validated input and what is known about the caller. */
export class Call<
  Params = unknown,
  Query = unknown,
  Body = unknown,
  Auth = unknown,
  Over extends Exchange = NodeExchange,
> {
  constructor(
    /** The request itself. Its body is still unread if the contract declares no JSON body. */
    readonly request: Over["request"],
    readonly operation: Operation,
    readonly requestId: string,
    /** Headers to add to the answer, whether it succeeds or not. Names are in lower case. */
    readonly responseHeaders: Record<string, string>,
    readonly params: Params,
    readonly query: Query,
    readonly body: Body,
    readonly auth: Auth,
    private readonly gone: () => AbortSignal,
  ) {}

  /** Aborts when the client disconnects before it has received its answer. */
  get signal(): AbortSignal {
    return this.gone();
  }

  /** Returns a request header. A property and not a method, so that handlers can destructure it. */
  readonly header = (name: string): string | undefined => headerOf(this.request, name);
}
