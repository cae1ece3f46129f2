import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/client";

/** Ids of the requests that a client has sent, so that an answer to a request that was never sent is noticed. */
export class SentRequests {
  /** Highest id so far. Clients number their requests, so every number up to this one was used. */
  #highest = -1;
  /** The latest ids that are not such numbers. */
  readonly #others = new Set<RequestId>();

  add(message: JSONRPCMessage): void {
    if (!("method" in message) || !("id" in message)) return;
    const { id } = message;
    if (typeof id === "number" && Number.isInteger(id)) this.#highest = Math.max(this.#highest, id);
    else this.#others.add(id);
    const [oldest] = this.#others;
    if (this.#others.size > mostOthers && oldest !== undefined) this.#others.delete(oldest);
  }

  has(id: RequestId): boolean {
    if (typeof id === "number" && id >= 0 && id <= this.#highest) return true;
    return this.#others.has(id);
  }
}

const mostOthers = 10_000;
