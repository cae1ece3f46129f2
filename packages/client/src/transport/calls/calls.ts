import { clientClosed } from "../../errors/errors.js";
import type { CallScope } from "./call-scope.js";

/** The running calls of a client, and the streamed answers of calls that have returned. */
export class Calls {
  readonly #running = new Set<Promise<unknown>>();
  readonly #streams = new Set<CallScope>();
  readonly #stoppable = new Set<CallScope>();
  #isClosed = false;

  /**
   * Runs a call, unless the client is closed. `isPart`: a request of a call that is already running; allowed after close
   * began.
   */
  async during<Result>(call: () => Promise<Result>, isPart = false): Promise<Result> {
    if (this.#isClosed && !isPart) throw clientClosed();
    const running = call();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Registers a streamed answer. The returned function must be called when the stream ends; it ends the scope. */
  stream(scope: CallScope): () => void {
    this.#streams.add(scope);
    return () => {
      this.#streams.delete(scope);
      scope.end();
    };
  }

  /** Registers a call that `stop()` can stop. The returned function must be called when the call is over. */
  stoppable(scope: CallScope): () => void {
    this.#stoppable.add(scope);
    return () => void this.#stoppable.delete(scope);
  }

  /** Refuses new calls and waits for the running ones. */
  async end(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#running);
  }

  /** Stops the running calls. Their cleanup may still run. */
  stop(): void {
    for (const scope of this.#stoppable) scope.stop(clientClosed());
  }

  /** Ends the streams, because some may have no reader who would end them. */
  endStreams(): void {
    this.#isClosed = true;
    for (const scope of this.#streams) {
      scope.stop(clientClosed());
      scope.end();
    }
  }
}
