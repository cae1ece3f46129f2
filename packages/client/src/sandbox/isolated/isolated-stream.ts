import type { StreamedExecution } from "../../execution/execution-stream.js";
import type { ErrorEvent, OutputEvent, ResultEvent } from "../../execution/program-stream.js";
import type { IsolatedExecutionResult } from "./isolated-options.js";

/** Result of code streamed by `executeIsolatedStream`, without its output, which came in earlier events. */
export interface StreamedIsolatedExecution
  extends StreamedExecution,
    Pick<IsolatedExecutionResult, "sandboxId" | "isolation" | "cleanupError"> {}

/** An event of `executeIsolatedStream`. */
export type IsolatedExecutionEvent = OutputEvent | ResultEvent<StreamedIsolatedExecution> | ErrorEvent;

/** The part that reads a stream. It is loaded with the first read, because many programs never stream. */
interface Reading extends AsyncIterable<IsolatedExecutionEvent> {
  result(): Promise<StreamedIsolatedExecution>;
  close(): Promise<void>;
}

/**
 * Code that runs in isolation, and its output. The first read starts it. A stream can be read only once, with `for await`
 * or with `result()` alone. When reading has ended, however it ended, a sandbox that was created for the code is deleted.
 */
export class IsolatedExecutionStream implements AsyncIterable<IsolatedExecutionEvent>, AsyncDisposable {
  readonly #open: () => Promise<Reading>;
  #opening: Promise<Reading> | undefined;

  /** @internal `open` is called once, when the stream is first used. */
  static of(open: () => Promise<Reading>): IsolatedExecutionStream {
    return new IsolatedExecutionStream(open);
  }

  private constructor(open: () => Promise<Reading>) {
    this.#open = open;
  }

  /** Yields each event once, in order. */
  async *[Symbol.asyncIterator](): AsyncGenerator<IsolatedExecutionEvent, void, void> {
    yield* await this.#opened();
  }

  /**
   * The code's result. Reads the stream to its end, unless a loop already does. Code that fails has a result too. Rejects
   * with a `StreamClosedError` if the connection ends before the end of the code was reported.
   */
  async result(): Promise<StreamedIsolatedExecution> {
    return (await this.#opened()).result();
  }

  /** Kills the code. Resolves when its sandbox is deleted; if it has none, when its connection is closed. */
  async close(): Promise<void> {
    await (await this.#opened()).close();
  }

  /** Same as `close()`, at the end of the scope of `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #opened(): Promise<Reading> {
    this.#opening ??= this.#open();
    return this.#opening;
  }
}
