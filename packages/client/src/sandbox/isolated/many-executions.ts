import { checkKnown, checkWhole } from "../../config/options.js";
import type { DetachOptions } from "../../execution/execute-options.js";
import type { IsolatedExecutionOptions, IsolatedExecutionResult } from "./isolated-options.js";

/** A program of `executeIsolatedMany`: its code, and options as of `executeIsolated`. No program detaches. */
export interface IsolatedProgram extends Omit<IsolatedExecutionOptions, "signal" | keyof DetachOptions> {
  code: string;
}

/** Options of `executeIsolatedMany`. */
export interface ManyExecutionsOptions {
  /** How many programs run at the same time, from 1 to 1,000. Default 8. */
  concurrency?: number | undefined;
  /** Kills the programs that run and starts no more. The iteration throws its reason. */
  signal?: AbortSignal | undefined;
}

/** The outcome of one program: its result, or the error with which the call for it failed. */
export type ManyExecutionsOutcome =
  | { index: number; result: IsolatedExecutionResult; error: undefined }
  | { index: number; result: undefined; error: unknown };

const defaultConcurrency = 8;

/** Runs programs, some at a time, and yields the outcome of each as soon as it has ended. */
export async function* executeMany(
  programs: Iterable<IsolatedProgram> | AsyncIterable<IsolatedProgram>,
  options: ManyExecutionsOptions,
  execute: (
    code: string,
    options: IsolatedExecutionOptions & { detachAfterSeconds: undefined },
  ) => Promise<IsolatedExecutionResult>,
): AsyncGenerator<ManyExecutionsOutcome, void, undefined> {
  checkKnown("executeIsolatedMany", options, { concurrency: true, signal: true });
  const { concurrency = defaultConcurrency, signal } = options;
  checkWhole("concurrency", concurrency, 1, 1000);
  const ending = new AbortController();
  const stop = (): void => ending.abort(signal?.reason);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  const running = new Map<number, Promise<ManyExecutionsOutcome>>();
  const begin = (index: number, { code, ...own }: IsolatedProgram): void => {
    const ended = execute(code, { ...own, signal: ending.signal, detachAfterSeconds: undefined }).then(
      (result) => ({ index, result, error: undefined }),
      (error: unknown) => ({ index, result: undefined, error }),
    );
    running.set(index, ended);
  };
  const source = (async function* () {
    yield* programs;
  })();
  /** The next program, requested as soon as it may start. Results are yielded meanwhile, because the source may be slow. */
  let coming: Promise<IteratorResult<IsolatedProgram, void>> | undefined;
  let isOver = false;
  try {
    for (let index = 0; ; ) {
      ending.signal.throwIfAborted();
      if (!isOver && running.size < concurrency) coming ??= source.next();
      if (coming === undefined && running.size === 0) return;
      const first = await Promise.race([...(coming === undefined ? [] : [coming]), ...running.values()]);
      ending.signal.throwIfAborted();
      if ("index" in first) {
        running.delete(first.index);
        yield first;
      } else {
        coming = undefined;
        if (first.done) isOver = true;
        else begin(index++, first.value);
      }
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    // Kill the programs that still run: the caller has left the loop.
    ending.abort();
    await Promise.all(running.values());
    const sourceEnds = source.return();
    // Do not wait for a source that was asked for a program: it ends only after it has given that program.
    if (coming === undefined) await sourceEnds;
    else for (const left of [coming, sourceEnds]) left.catch(() => undefined);
  }
}
