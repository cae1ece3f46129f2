import { invalidArgument } from "../errors/errors.js";
import { closedByReader } from "./frame-stream.js";

/** A stream that can be read once: event by event, or only for its result. */
export class OnceRead<Event, Result> {
  readonly #source: () => AsyncGenerator<Event, Result, void>;
  readonly #failed: (error: unknown) => void;
  readonly #result: Promise<Result>;
  #settle: { resolve(result: Result): void; reject(error: unknown): void } | undefined;
  #isStarted = false;

  /** `failed` is called with the error that ends reading, if there is no result. */
  constructor(source: () => AsyncGenerator<Event, Result, void>, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
    this.#result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // Prevent an unhandled rejection: callers that only iterate get the failure from the loop.
    this.#result.catch(() => undefined);
  }

  async *iterate(): AsyncGenerator<Event, void, void> {
    if (this.#isStarted) throw invalidArgument("This stream was already read.", "Start another stream.");
    this.#isStarted = true;
    yield* this.#events();
  }

  /** The result. Reads the stream to its end if nobody else does. */
  async result(): Promise<Result> {
    if (!this.#isStarted) for await (const _ of this.iterate());
    return this.#result;
  }

  async *#events(): AsyncGenerator<Event, void, void> {
    const source = this.#source();
    try {
      for (let step = await source.next(); ; step = await source.next()) {
        if (step.done) return this.#settle?.resolve(step.value);
        yield step.value;
      }
    } catch (error) {
      this.#settle?.reject(error);
      this.#failed(error);
      throw error;
    } finally {
      // End the source if the loop was left early. No effect after its end.
      await source.return(undefined as never);
      this.#settle?.reject(closedByReader());
    }
  }
}
