import type { BackgroundWork } from "../../agent/background-work.js";
import { cleanUp } from "../../agent/cleanup.js";
import { checkKnown } from "../../config/options.js";
import { isSandboxError, type SandboxError } from "../../errors/errors.js";
import type { ExecuteRequest } from "../../execution/execute-options.js";
import type { ExecutionStream, StreamedExecution } from "../../execution/execution-stream.js";
import { closedByReader } from "../../streams/frame-stream.js";
import { OnceRead } from "../../streams/once-read.js";
import { CallScope } from "../../transport/calls/calls.js";
import type { ControlPlaneClient } from "../../transport/contract-clients.js";
import type { Sandbox } from "../sandbox.js";
import type { Sandboxes } from "../sandboxes.js";
import {
  checkedRequest,
  lifetime,
  longestDelete,
  type StreamIsolatedOptions,
  streamIsolatedNames,
} from "./isolated-options.js";
import type { IsolatedExecutionEvent, StreamedIsolatedExecution } from "./isolated-stream.js";
import { streamOneShot } from "./one-shot-execution.js";
import { oneShotEvents } from "./one-shot-stream.js";

type EventBeforeResult = Exclude<IsolatedExecutionEvent, { type: "result" }>;

/** Prepares code for `executeIsolatedStream`. Throws for invalid options. */
export function readIsolated(
  controlPlane: ControlPlaneClient,
  sandboxes: Sandboxes,
  background: BackgroundWork,
  code: string,
  options: StreamedRun,
): IsolatedReading {
  checkKnown("executeIsolatedStream", options, streamIsolatedNames);
  const request = checkedRequest(code, options);
  return new IsolatedReading({ controlPlane, sandboxes, background, request, code, options });
}

interface StreamedRun extends StreamIsolatedOptions {
  timeoutSeconds: number;
}

interface IsolatedReadingParts {
  controlPlane: ControlPlaneClient;
  sandboxes: Sandboxes;
  background: BackgroundWork;
  request: ExecuteRequest;
  code: string;
  options: StreamedRun;
}

/** Reads the output of code that needs no sandbox, or has one of its own, which is deleted afterwards. */
export class IsolatedReading {
  readonly #scope: CallScope;
  readonly #reading: OnceRead<IsolatedExecutionEvent, StreamedIsolatedExecution>;
  readonly #parts: IsolatedReadingParts;
  /** Resolves when the sandbox is deleted, with the error if that failed. Undefined if there is no sandbox. */
  #life: Promise<SandboxError | undefined> | undefined;
  #over: () => void = () => undefined;
  readonly #isOver = new Promise<void>((resolve) => {
    this.#over = resolve;
  });

  constructor(parts: IsolatedReadingParts) {
    this.#parts = parts;
    this.#scope = new CallScope(parts.options.signal);
    this.#reading = new OnceRead(
      () => this.#events(),
      () => undefined,
    );
  }

  [Symbol.asyncIterator](): AsyncGenerator<IsolatedExecutionEvent, void, void> {
    return this.#reading.iterate();
  }

  result(): Promise<StreamedIsolatedExecution> {
    return this.#reading.result();
  }

  async close(): Promise<void> {
    this.#scope.stop(closedByReader());
    this.#over();
    await this.#life?.catch(() => undefined);
  }

  async *#events(): AsyncGenerator<IsolatedExecutionEvent, StreamedIsolatedExecution, void> {
    try {
      this.#scope.throwIfAborted();
      const whole = (yield* this.#oneShot()) ?? (yield* this.#inSandbox());
      yield { type: "result", result: whole };
      return whole;
    } catch (error) {
      throw this.#failure(error, await this.#end().catch(() => undefined));
    } finally {
      await this.#end().catch(() => undefined);
    }
  }

  /** Runs the code without a sandbox. Undefined if it needs one: then nothing has run. */
  async *#oneShot(): AsyncGenerator<EventBeforeResult, StreamedIsolatedExecution | undefined, void> {
    const { controlPlane, request, options } = this.#parts;
    const signal = this.#scope.abortSignal;
    const stream = await streamOneShot(controlPlane, request, { ...options, signal });
    return stream && (yield* oneShotEvents(stream, request, options));
  }

  async *#inSandbox(): AsyncGenerator<EventBeforeResult, StreamedIsolatedExecution, void> {
    const { sandbox, stream } = await this.#start();
    const result = yield* this.#output(stream);
    return { ...result, ...this.#facts(sandbox), cleanupError: await this.#end() };
  }

  /** Yields the events before the result. */
  async *#output(stream: ExecutionStream): AsyncGenerator<EventBeforeResult, StreamedExecution, void> {
    for await (const event of stream) if (event.type !== "result") yield event;
    return stream.result();
  }

  #start(): Promise<{ sandbox: Sandbox; stream: ExecutionStream }> {
    const { background, code, sandboxes } = this.#parts;
    return new Promise((resolve, reject) => {
      this.#life = background.whole(async () => {
        const { env, filename, language, onStep, stdin, timeoutSeconds, workdir } = this.#parts.options;
        const { egress, internetAccess, minIsolation, region, secrets, template, templateId } =
          this.#parts.options;
        const creation = { egress, internetAccess, minIsolation, region, secrets, template, templateId };
        const signal = this.#scope.abortSignal;
        onStep?.("create");
        const sandbox = await sandboxes.create({ ...creation, timeoutSeconds: lifetime, signal });
        try {
          onStep?.("execute");
          const options = { env, filename, language, stdin, timeoutSeconds, workdir, signal };
          resolve({ sandbox, stream: sandbox.executeStream(code, options) });
          await Promise.race([this.#isOver, background.closing]);
        } catch (error) {
          reject(error);
        }
        return cleanUp(async () => {
          try {
            onStep?.("delete");
          } finally {
            await sandbox.delete({ requestTimeoutSeconds: longestDelete });
          }
        }, background);
      });
      this.#life.catch(reject);
    });
  }

  /** Ends reading, and waits until the sandbox is deleted. */
  async #end(): Promise<SandboxError | undefined> {
    this.#over();
    try {
      return await this.#life;
    } finally {
      this.#scope.end();
    }
  }

  #facts({ id: sandboxId, isolation }: Sandbox) {
    return { sandboxId, isolation };
  }

  /** The error for the reader: why reading was stopped, if the reader or its signal stopped it, else `error`. */
  #failure(error: unknown, cleanupError: SandboxError | undefined): unknown {
    const failure = this.#scope.failure ?? error;
    if (!isSandboxError(failure)) return failure;
    const reported = cleanupError ?? (isSandboxError(error) ? error.cleanupError : undefined);
    if (reported !== undefined) failure.cleanupError = reported;
    return failure;
  }
}
