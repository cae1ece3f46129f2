import type { AgentSchemas, ExecuteStreamFrame } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import { margin } from "../config/time-limits.js";
import type { SandboxError } from "../errors/errors.js";
import { executeFrames } from "../streams/frame-fields.js";
import { FrameStream } from "../streams/frame-stream.js";
import { OnceRead } from "../streams/once-read.js";
import { date } from "../transport/answers/date.js";
import type { ProgramResult, TerminationReason } from "./execution-result.js";

/** A piece of what a program writes, as soon as it is written. */
export interface OutputEvent {
  type: "stdout" | "stderr";
  text: string;
  /** Bytes before `text` that were no longer kept when their turn came: the reader was much too slow. */
  skippedBytes: number;
  /** By the server's clock; undefined where the server does not say. */
  timestamp: Date | undefined;
}

/** How the program ended: the last event of a stream that succeeds. */
export interface ResultEvent<Result> {
  type: "result";
  result: Result;
}

/** Something went wrong in the sandbox. Where no result follows, reading ends with this error. */
export interface ErrorEvent {
  type: "error";
  error: SandboxError;
}

/** How a program ended; what it wrote was told in the events before. */
export type StreamedResult = Omit<ProgramResult, "stdout" | "stderr">;

export interface ProgramStreamOptions {
  access: AgentAccess;
  path: string;
  first: object;
  /** Seconds the program may run. */
  timeout: number;
  signal: AbortSignal | undefined;
}

type ResultFrame = AgentSchemas["ResultFrame"];

/**
 * A program and what it writes, while it runs. It is started by the first read, and read once: with `for await`, or by
 * `result()` alone. Leaving the loop early, `close()` and the signal end the program. A reader may take its time: the
 * program goes on, and what it writes waits in the sandbox.
 */
export abstract class ProgramStream<Result>
  implements AsyncIterable<OutputEvent | ResultEvent<Result> | ErrorEvent>, AsyncDisposable
{
  /** @internal */
  protected readonly frames: FrameStream<ExecuteStreamFrame>;
  readonly #reading: OnceRead<OutputEvent | ResultEvent<Result> | ErrorEvent, Result>;

  /** @internal */
  protected constructor({ timeout, ...options }: ProgramStreamOptions) {
    // Code waits for its turn in its context.
    const silence = timeout + margin;
    this.frames = new FrameStream({ ...options, silence, fields: executeFrames });
    this.#reading = new OnceRead(
      () => this.#events(),
      (error) => this.frames.report(error),
    );
  }

  /** Each event once, in order. */
  [Symbol.asyncIterator](): AsyncGenerator<OutputEvent | ResultEvent<Result> | ErrorEvent, void, void> {
    return this.#reading.iterate();
  }

  /**
   * How the program ended. Reads the stream to its end where nobody else does. A program that fails is a result like
   * any other; rejects with a `StreamClosedError` when the connection ended before the program was reported to have.
   */
  result(): Promise<Result> {
    return this.#reading.result();
  }

  /** Kills the program. The stream goes on to its result, whose `terminationReason` is `killed`. */
  async kill(): Promise<void> {
    await this.frames.send({ type: "cancel" });
  }

  /** Closes the connection, which ends the program. */
  close(): void {
    this.frames.close();
  }

  /** As `close`, at the end of the scope of `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** @internal */
  protected abstract resultOf(frame: ResultFrame): Result;

  /** @internal For what goes on beside reading. */
  protected begin(): void {
    // What reads tells of failures.
  }

  /** @internal Undoes what `begin` did. */
  protected over(): void {
    // Reading needs nothing.
  }

  async *#events(): AsyncGenerator<OutputEvent | ResultEvent<Result> | ErrorEvent, Result, void> {
    let result: Result | undefined;
    let failure: SandboxError | undefined;
    try {
      this.begin();
      for (;;) {
        const frame = await this.frames.next();
        if (frame.type === "stdout" || frame.type === "stderr") {
          yield outputEvent(frame);
        } else if (frame.type === "result") {
          result = this.resultOf(frame as ResultFrame);
          yield { type: "result", result };
        } else if (frame.type === "error") {
          failure = this.frames.error(frame);
          yield { type: "error", error: failure };
        } else {
          if (result !== undefined) return result;
          throw failure ?? this.frames.invalid(withoutResult);
        }
      }
    } finally {
      this.frames.close();
      this.over();
    }
  }
}

/** What the frame tells of every kind of program. */
export function streamedResult(frame: ResultFrame): StreamedResult {
  const { exit_code: exitCode, execution_time: executionTimeSeconds = 0 } = frame;
  return {
    kind: "result",
    success: exitCode === 0,
    exitCode,
    executionTimeSeconds,
    terminationReason: frame.termination_reason as TerminationReason | undefined,
    output: {
      stdout: {
        truncated: frame.stdout_truncated ?? false,
        bytes: frame.stdout_bytes,
        file: frame.stdout_file,
      },
      stderr: {
        truncated: frame.stderr_truncated ?? false,
        bytes: frame.stderr_bytes,
        file: frame.stderr_file,
      },
    },
  };
}

type OutputFrame = Extract<ExecuteStreamFrame, { data: string }>;

function outputEvent({ data, skipped_bytes: skippedBytes = 0, timestamp, type }: OutputFrame): OutputEvent {
  return { type, text: data, skippedBytes, timestamp: date(timestamp) };
}

const withoutResult = {
  summary: "The server ended the stream without saying how the program ended.",
  hint: "Look at the program's effects before starting it again.",
  code: "RESULT_MISSING",
};
