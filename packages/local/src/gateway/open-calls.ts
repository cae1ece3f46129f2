import type { Duplex } from "node:stream";

/** Milliseconds between two checks of the keys whose calls are open. */
const checkMs = 500;

/**
 * Cuts the calls that are open when their API key is revoked or expires: streams, terminals, tunnels and requests that wait. A
 * new call is refused, but these would go on for hours.
 */
export class OpenCalls {
  readonly #byKey = new Map<string, Set<Duplex>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly isUsable: (keyId: string) => boolean) {}

  /** Notes a call over this connection, until the returned function is called. */
  add(keyId: string, connection: Duplex): () => void {
    const calls = this.#byKey.get(keyId) ?? new Set();
    this.#byKey.set(keyId, calls.add(connection));
    this.#timer ??= setInterval(() => this.#cut(), checkMs).unref();
    return () => {
      calls.delete(connection);
      if (calls.size > 0 || this.#byKey.get(keyId) !== calls) return;
      this.#byKey.delete(keyId);
      if (this.#byKey.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #cut(): void {
    for (const [keyId, calls] of this.#byKey)
      if (!this.isUsable(keyId)) for (const connection of calls) connection.destroy();
  }
}
