import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/client";

/** Ids of requests that a client has sent, so that an answer to another one is noticed. */
export class SentRequests {
  /** Clients count their requests: every number up to this one was used. */
  #highest = -1;
  /** Ids that are no such numbers, the latest of them. */
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
