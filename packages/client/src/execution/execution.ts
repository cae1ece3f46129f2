import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkFunction,
  checkKnown,
  margin,
  omitUndefined,
  requestInit,
} from "../config/options.js";
import { invalidArgument, NotFoundError } from "../errors/errors.js";
import { CallScope } from "../transport/calls/calls.js";
import { bodyOf, readBody, successOf } from "../transport/contract-clients.js";
import {
  type ExecutionOutput,
  type ExecutionProgress,
  executionOutput,
  type OutputPosition,
} from "./execution-output.js";
import type { OutputEvent } from "./program-stream.js";
import type { ExecutionResult } from "./results/execution-result.js";
import { type ExecutionEnd, type ExecutionState, executionState } from "./results/execution-state.js";
import { finishedResult } from "./results/finished-execution.js";

/** Handle of a program in the background. Only its methods make requests. */
export class Execution {
  /** `execution`, in contrast to a result, whose `kind` is `result`. */
  readonly kind = "execution";
  /**
   * Id of the program in the sandbox, `proc_…` or `cmd_…`; `sandbox.processes.get(id)` returns its handle again. In a
   * webhook report it is the `executionId`.
   */
  readonly id: string;
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess, id: string): Execution {
    return new Execution(access, id);
  }

  private constructor(access: AgentAccess, id: string) {
    this.#access = access;
    this.id = id;
  }

  /**
   * The program's current state (GET /execute/processes). Throws a `NotFoundError` if the sandbox no longer remembers the
   * program.
   */
  async status(options?: CallOptions): Promise<ExecutionState> {
    const isThis = ({ process_id, execution_id }: AgentSchemas["ProcessInfo"]): boolean =>
      process_id === this.id || execution_id === this.id;
    const [state] = await listedExecutions(this.#access, isThis, options);
    if (state === undefined) throw noExecution(this.id);
    return state;
  }

  /**
   * Waits for the program's end, without limit (GET /execute/processes/{id}/output, a long poll of one minute at a time).
   * A program that fails is an end too. The signal ends the wait, not the program; `kill()` ends the program.
   */
  async wait(options: Pick<WaitOptions, "signal"> = {}): Promise<ExecutionEnd> {
    checkKnown("wait", options, { signal: true });
    for (;;) {
      const end = await this.waitAtMost(Number.POSITIVE_INFINITY, options);
      if (end !== undefined) return end;
    }
  }

  /**
   * Waits for the program's end, at most `seconds`. Resolves with undefined if the program still runs then. `onProgress`
   * is called every two seconds.
   */
  async waitAtMost(seconds: number, options: WaitOptions = {}): Promise<ExecutionEnd | undefined> {
    checkKnown("waitAtMost", options, { signal: true, onProgress: true });
    const { onProgress, signal } = options;
    if (!(seconds >= 0)) throw invalidArgument("seconds must be a number, 0 or more.");
    checkFunction("onProgress", onProgress);
    const until = performance.now() + seconds * 1000;
    const left = (): number => Math.max(0, (until - performance.now()) / 1000);
    const step = onProgress === undefined ? longestWait : progressInterval;
    let position: OutputPosition = { limit: onProgress === undefined ? smallestPiece : progressPiece };
    const scope = new CallScope(signal);
    try {
      for (let delay = shortestDelay; ; ) {
        // Round down, because the server takes whole seconds.
        const wait = Math.min(step, Math.floor(left()));
        const askedAt = performance.now();
        const output = await this.#output(position, wait, { signal });
        const {
          status,
          exitCode,
          terminationReason,
          durationSeconds: duration,
          error,
          stdoutBytes,
          stderrBytes,
        } = output;
        if (status !== "running")
          return {
            status,
            success: exitCode === 0,
            exitCode,
            terminationReason,
            durationSeconds: duration,
            error,
          };
        if (left() === 0) return undefined;
        if (wait === 0) {
          await scope.sleep(Math.min(delay, left()));
          delay *= 1.5;
          continue;
        }
        if (onProgress !== undefined) {
          onProgress({
            durationSeconds: duration,
            stdoutBytes,
            stderrBytes,
            latest: output.stdout || output.stderr,
          });
          position = { ...position, stdoutOffset: stdoutBytes, stderrOffset: stderrBytes };
        }
        // The server answered too early, so it does not support waiting: poll it with a growing delay.
        if (performance.now() - askedAt < wait * 500) {
          await scope.sleep(Math.min(delay, left()));
          delay = Math.min(delay * 1.5, longestDelay);
        }
      }
    } finally {
      scope.end();
    }
  }

  /**
   * Waits for the program's end and returns what `execute` would: of output above 1 MiB, the beginning and the end.
   * Displayed values are included only if the code ran in a context. The signal ends the wait, not the program.
   */
  async result(options: Pick<WaitOptions, "signal"> = {}): Promise<ExecutionResult> {
    checkKnown("result", options, { signal: true });
    await this.wait(options);
    return finishedResult(this.#access, this.id, options.signal);
  }

  /**
   * Reads a piece of the program's output so far (GET /execute/processes/{id}/output). Pass the answer's `stdoutOffset`
   * and `stderrOffset` to the next call, until `complete` is true.
   */
  async output(options: OutputPosition & CallOptions = {}): Promise<ExecutionOutput> {
    checkKnown("output", options, { ...callOptionNames, ...offsetNames, limit: true });
    return this.#output(options, 0, options);
  }

  /**
   * Yields the program's output from the start, or from the given offsets, until the program ends. Polls with a short,
   * growing delay while there is no new output. Leaving the loop and the signal end the reading, not the program.
   */
  async *follow(
    options: Omit<OutputPosition, "limit"> & Pick<CallOptions, "signal"> = {},
  ): AsyncGenerator<OutputEvent, void, void> {
    checkKnown("follow", options, { ...offsetNames, signal: true });
    let { stdoutOffset = 0, stderrOffset = 0 } = options;
    const scope = new CallScope(options.signal);
    try {
      for (let delay = shortestDelay; ; delay = Math.min(delay * 1.5, longestDelay)) {
        const piece = await this.#output({ stdoutOffset, stderrOffset }, 0, options);
        for (const type of ["stdout", "stderr"] as const) {
          const text = piece[type];
          const skippedBytes = piece[`${type}Start`] - (type === "stdout" ? stdoutOffset : stderrOffset);
          const raw = piece[`${type}Raw`];
          if (text !== "") yield { type, text, raw, skippedBytes, timestamp: undefined };
        }
        if (piece.complete) return;
        if (piece.stdoutOffset > stdoutOffset || piece.stderrOffset > stderrOffset) delay = shortestDelay;
        else await scope.sleep(delay);
        ({ stdoutOffset, stderrOffset } = piece);
      }
    } finally {
      scope.end();
    }
  }

  /** Kills the program and every process it started (DELETE /execute/kill). Succeeds if the program has already ended. */
  async kill(options?: CallOptions): Promise<void> {
    await killExecution(this.#access, this.id, options);
  }

  async #output(
    { limit, stderrOffset, stdoutOffset }: OutputPosition,
    wait: number,
    options: CallOptions,
  ): Promise<ExecutionOutput> {
    const position = { limit, stdout_offset: stdoutOffset, stderr_offset: stderrOffset };
    for (const [name, value] of Object.entries({ limit, stdoutOffset, stderrOffset })) {
      if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0))
        throw invalidArgument(`${name} must be a whole number of bytes, 0 or more; it is ${value}.`);
    }
    const query = omitUndefined({ ...position, wait: wait === 0 ? undefined : wait });
    const params = { path: { process_id: this.id }, query };
    const init = wait === 0 ? requestInit(options) : requestInit(options, wait + margin);
    const path = "/execute/processes/{process_id}/output";
    return executionOutput(
      await bodyOf(this.#access.client.GET(path, { params, ...init }), "status", "stdout", "stderr"),
    );
  }
}

/** Options for waiting for a program in the background. */
export interface WaitOptions {
  /** Ends the wait, not the program. */
  signal?: AbortSignal | undefined;
  /** Called every two seconds with the program's progress. */
  onProgress?: ((progress: ExecutionProgress) => void) | undefined;
}

const offsetNames = { stdoutOffset: true, stderrOffset: true } as const;

/** Bytes of output to request if only the program's end matters: the smallest limit that the server accepts. */
const smallestPiece = 16;
/** Bytes of output to request for `onProgress`. */
const progressPiece = 1024;
/** Seconds of one long poll without `onProgress`. */
const longestWait = 60;
const progressInterval = 2;
const shortestDelay = 0.05;
const longestDelay = 1;

export function listExecutions(access: AgentAccess, options?: CallOptions): Promise<ExecutionState[]> {
  return listedExecutions(access, () => true, options);
}

function listedExecutions(
  access: AgentAccess,
  isWanted: (wire: AgentSchemas["ProcessInfo"]) => boolean,
  options: CallOptions | undefined,
): Promise<ExecutionState[]> {
  const pending = access.client.GET("/execute/processes", callInit(options));
  return readBody(pending, ({ processes }) => processes.filter(isWanted).map(executionState), "processes");
}

export async function killExecution(access: AgentAccess, id: string, options?: CallOptions): Promise<void> {
  const params = { query: { process_id: id } };
  await successOf(access.client.DELETE("/execute/kill", { params, ...callInit(options) }));
}

function noExecution(id: string): NotFoundError {
  return new NotFoundError({
    summary: `The sandbox has no execution with the id "${id}".`,
    hint: "sandbox.processes.list() shows the programs that run and the last that ended.",
    code: "PROCESS_NOT_FOUND",
  });
}
