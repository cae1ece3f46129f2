import type { AgentSchemas, ExecuteStreamFrame } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import { margin } from "../config/options.js";
import type { SandboxError } from "../errors/errors.js";
import { FrameStream } from "../streams/frame-stream.js";
import { executeFrames } from "../streams/frames.js";
import { OnceRead } from "../streams/once-read.js";
import { base64Bytes, date } from "../transport/answer-fields.js";
import type { ProgramResult, TerminationReason } from "./results/execution-result.js";

/** A piece of a program's output, sent as soon as it is written. */
export interface OutputEvent {
  type: "stdout" | "stderr";
  text: string;
  /** The bytes, if they are not UTF-8: `text` then has U+FFFD in place of those that are no text. Else undefined. */
  raw: Uint8Array | undefined;
  /** Bytes lost before `text`, because the server could not keep them for a slow reader. */
  skippedBytes: number;
  /** When the text was written, by the server's clock; undefined if the server does not say. */
  timestamp: Date | undefined;
}

/** The program's result: the last event of a successful stream. */
export interface ResultEvent<Result> {
  type: "result";
  result: Result;
}

/** A failure in the sandbox. If no result follows, reading ends with this error. */
export interface ErrorEvent {
  type: "error";
  error: SandboxError;
}

/** A program's result without its output, which came in earlier events. */
export type StreamedResult = Omit<ProgramResult, "stdout" | "stderr">;

export interface ProgramStreamOptions {
  access: AgentAccess;
  path: string;
  first: object;
  /** Time limit of the program in seconds. */
  timeout: number;
  signal: AbortSignal | undefined;
}

type ResultFrame = AgentSchemas["ResultFrame"];

/**
 * A running program and its output. The first read starts the program. A stream can be read only once, with `for await`
 * or with `result()` alone. Leaving the loop early, `close()` and the signal end the program. A slow reader loses nothing: up
 * to 64 MiB of each unread output wait in the sandbox, then the program waits.
 */
export abstract class ProgramStream<Result>
  implements AsyncIterable<OutputEvent | ResultEvent<Result> | ErrorEvent>, AsyncDisposable
{
  /** @internal */
  protected readonly frames: FrameStream<ExecuteStreamFrame>;
  readonly #reading: OnceRead<OutputEvent | ResultEvent<Result> | ErrorEvent, Result>;
  readonly #access: AgentAccess;

  /** @internal */
  protected constructor({ timeout, ...options }: ProgramStreamOptions) {
    this.#access = options.access;
    // Code may wait for its turn in its context, so the server may be silent for the whole time limit.
    const silence = timeout + margin;
    this.frames = new FrameStream({ ...options, silence, fields: executeFrames });
    this.#reading = new OnceRead(
      () => this.#events(),
      (error) => this.frames.report(error),
    );
  }

  /** Yields each event once, in order. */
  [Symbol.asyncIterator](): AsyncGenerator<OutputEvent | ResultEvent<Result> | ErrorEvent, void, void> {
    return this.#reading.iterate();
  }

  /**
   * The program's result. Reads the stream to its end, unless a loop already does. A program that fails is a result too.
   * Rejects with a `StreamClosedError` if the connection ends before the program's end was reported.
   */
  result(): Promise<Result> {
    return this.#reading.result();
  }

  /** Kills the program. The stream continues to the result, whose `terminationReason` is `killed`. */
  async kill(): Promise<void> {
    await this.frames.send({ type: "cancel" });
  }

  /** Closes the connection, which ends the program. */
  close(): void {
    this.frames.close();
  }

  /** Same as `close()`, at the end of the scope of `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** @internal */
  protected abstract resultOf(frame: ResultFrame): Result;

  /** @internal Called before the first read; starts work that runs in parallel, such as sending input. */
  protected begin(): void {
    // Empty: only streams with input start something here.
  }

  /** @internal Called when reading has ended; ends the work that `begin` started. */
  protected over(): void {
    // Empty: undoes nothing, because `begin` started nothing.
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
          // Of our servers only the last frame follows, after a pause that some clients need. The cloud documents no order.
          if (this.#access.isExtended) return result;
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

/** The fields of a result frame that code and commands have in common. */
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

/** The event for a frame with output. */
export function outputEvent({
  base64,
  data,
  skipped_bytes: skippedBytes = 0,
  timestamp,
  type,
}: OutputFrame): OutputEvent {
  return { type, text: data, raw: base64Bytes(base64), skippedBytes, timestamp: date(timestamp) };
}

/** The fault of a stream that ends without a result. */
export const withoutResult = {
  summary: "The server ended the stream without saying how the program ended.",
  hint: "Look at the program's effects before starting it again.",
  code: "RESULT_MISSING",
};
