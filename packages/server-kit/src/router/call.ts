import type { Operation } from "../contract/contract.js";
import { type Exchange, headerOf, type NodeExchange } from "../http/exchange.js";

/** One request on its way through a handler: validated input, and what to know about the caller. */
export class Call<
  Params = unknown,
  Query = unknown,
  Body = unknown,
  Auth = unknown,
  Over extends Exchange = NodeExchange,
> {
  constructor(
    /** The request itself: its body is unread where the contract has no JSON body. */
    readonly request: Over["request"],
    readonly operation: Operation,
    readonly requestId: string,
    /** Headers for the answer, whatever it will be; names in lower case. */
    readonly responseHeaders: Record<string, string>,
    readonly params: Params,
    readonly query: Query,
    readonly body: Body,
    readonly auth: Auth,
    private readonly gone: () => AbortSignal,
  ) {}

  /** Aborts when the client goes away before it has its answer. */
  get signal(): AbortSignal {
    return this.gone();
  }

  /** A request header; a property, so that handlers can take it out of the call. */
  readonly header = (name: string): string | undefined => headerOf(this.request, name);
}
