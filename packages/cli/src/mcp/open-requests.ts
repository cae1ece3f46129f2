/** The requests to a server that it has not answered. */
export class OpenRequests {
  readonly #ids = new Set<unknown>();
  #settle: () => void = () => undefined;

  get size(): number {
    return this.#ids.size;
  }

  /** Notes a message to the server. Servers do not answer requests that were cancelled. */
  sent(message: unknown): void {
    const { id, method, params } = fieldsOf(message);
    if (method === "notifications/cancelled") this.#delete(fieldsOf(params).requestId);
    else if (method !== undefined && id !== undefined) this.#ids.add(id);
  }

  /** Notes that a message did not reach the server. Returns whether it was a request, which waits for an answer. */
  lost(message: unknown): boolean {
    const { id, method } = fieldsOf(message);
    const isRequest = method !== undefined && this.#ids.has(id);
    this.#delete(id);
    return isRequest;
  }

  /** The ids of the requests, which will get no answer any more. */
  takeAll(): readonly unknown[] {
    const ids = [...this.#ids];
    this.#ids.clear();
    this.#settle();
    return ids;
  }

  /** Notes a message of the server. */
  received(message: unknown): void {
    const { id, method } = fieldsOf(message);
    if (method === undefined) this.#delete(id);
  }

  /** Resolves when the server has answered all requests, or after `limitMs`. */
  async answered(limitMs: number): Promise<void> {
    if (this.#ids.size === 0) return;
    let limit: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#settle = resolve;
      limit = setTimeout(resolve, limitMs).unref();
    });
    clearTimeout(limit);
  }

  #delete(id: unknown): void {
    this.#ids.delete(id);
    if (this.#ids.size === 0) this.#settle();
  }
}

const fieldsOf = (message: unknown): Readonly<Record<string, unknown>> =>
  typeof message === "object" && message !== null ? { ...message } : {};
