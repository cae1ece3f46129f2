import { invalidArgument } from "../errors/errors.js";
import { left } from "./frame-stream.js";

/** Events that can be read once, one by one or all at once for what they come to. */
export class OnceRead<Event, Result> {
  readonly #source: () => AsyncGenerator<Event, Result, void>;
  readonly #failed: (error: unknown) => void;
  readonly #result: Promise<Result>;
  #settle: { resolve(result: Result): void; reject(error: unknown): void } | undefined;
  #isTaken = false;

  /** `failed` is told what reading ends with, where that is no result. */
  constructor(source: () => AsyncGenerator<Event, Result, void>, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
    this.#result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // Those who only iterate hear of a failure there.
    this.#result.catch(() => undefined);
  }

  iterate(): AsyncGenerator<Event, void, void> {
    if (this.#isTaken) throw invalidArgument("This stream is read already.", "Start another one.");
    this.#isTaken = true;
    return this.#events();
  }

  /** Reads what nobody else reads. */
  async result(): Promise<Result> {
    if (!this.#isTaken) for await (const _ of this.iterate());
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
      // Does nothing after its end.
      await source.return(undefined as never);
      this.#settle?.reject(left());
    }
  }
}
