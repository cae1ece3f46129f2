import { clientClosed } from "../../errors/errors.js";
import type { CallScope } from "./call-scope.js";

/** The calls of a client that are under way, and the streamed answers of those that are over. */
export class Calls {
  readonly #running = new Set<Promise<unknown>>();
  readonly #streams = new Set<CallScope>();
  readonly #stoppable = new Set<CallScope>();
  #isClosed = false;

  /** `isPart` of those that others may need, which are under way while the client is closed. */
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

  /** An answer begins to be streamed, to the end that the function which this gives makes of it. */
  stream(scope: CallScope): () => void {
    this.#streams.add(scope);
    return () => {
      this.#streams.delete(scope);
      scope.end();
    };
  }

  /** Gives what to call when it is over by itself. */
  stoppable(scope: CallScope): () => void {
    this.#stoppable.add(scope);
    return () => void this.#stoppable.delete(scope);
  }

  /** Lets calls finish, and none begin. */
  async end(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#running);
  }

  /** Stops those that are under way. What they leave to be cleaned up may still be. */
  stop(): void {
    for (const scope of this.#stoppable) scope.stop(clientClosed());
  }

  /** Ends the streams, some of which nobody reads. */
  endStreams(): void {
    this.#isClosed = true;
    for (const scope of this.#streams) {
      scope.stop(clientClosed());
      scope.end();
    }
  }
}
