import {
  AbortError,
  invalidArgument,
  type SandboxError,
  TimeoutError,
  type TimeoutKind,
} from "../../errors/errors.js";
import { onAbort } from "./caller-signal.js";

/** The part of an AbortSignal that is needed to stop a call. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface TimeLimit {
  seconds: number;
  kind: TimeoutKind;
  /** The start of the error's message, which says what did not happen in time: "The server did not answer". */
  passed: string;
  /** Advice for the error. Default: the advice for `kind`. */
  hint?: string;
  requestId?: string;
}

/**
 * The lifetime of one call. The caller's signal or a time limit may stop it. It is itself the signal that parts of the
 * call listen to, because creating a real AbortSignal costs a tenth of a small call.
 */
export class CallScope implements StopSignal {
  readonly #leaveCaller: (() => void) | undefined;
  readonly #listeners = new Set<() => void>();
  #controller: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #deadline = Number.POSITIVE_INFINITY;
  #failure: SandboxError | undefined;

  constructor(callerSignal: AbortSignal | undefined) {
    if (callerSignal === undefined) return;
    if (!isSignal(callerSignal)) throw invalidArgument("signal must be an AbortSignal.");
    const stop = (): void => this.stop(new AbortError(callerSignal.reason));
    if (callerSignal.aborted) stop();
    else this.#leaveCaller = onAbort(callerSignal, stop);
  }

  /** Why the call was stopped, if it was. */
  get failure(): SandboxError | undefined {
    return this.#failure;
  }

  get aborted(): boolean {
    return this.#failure !== undefined;
  }

  get reason(): SandboxError | undefined {
    return this.#failure;
  }

  /** A real AbortSignal, for APIs that accept nothing else. */
  get abortSignal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#failure !== undefined) this.#controller.abort(this.#failure);
    }
    return this.#controller.signal;
  }

  /** Milliseconds until the time limit. */
  get remaining(): number {
    return this.#deadline - performance.now();
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  throwIfAborted(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Sets the call's time limit, replacing the previous one. */
  limit({ seconds, kind, passed, hint = adviceFor[kind], requestId }: TimeLimit): void {
    clearTimeout(this.#timer);
    const milliseconds = seconds * 1000;
    this.#deadline = performance.now() + milliseconds;
    this.#timer = setTimeout(
      () => {
        const summary = `${passed} within ${seconds} s.`;
        this.stop(new TimeoutError({ summary, hint, kind, code: "TIMEOUT", requestId }));
      },
      Math.min(milliseconds, longestTimer),
    );
  }

  unlimit(): void {
    clearTimeout(this.#timer);
    this.#deadline = Number.POSITIVE_INFINITY;
  }

  /** Waits. Throws if the call is stopped meanwhile. */
  async sleep(seconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#listeners.delete(done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(seconds * 1000, longestTimer));
      this.#listeners.add(done);
    });
    this.throwIfAborted();
  }

  /** Removes the listener from the caller's signal and clears the timer. */
  end(): void {
    clearTimeout(this.#timer);
    this.#leaveCaller?.();
  }

  /** Stops the call with this error, as the caller's signal and the time limit do. */
  stop(failure: SandboxError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#controller?.abort(failure);
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Checks the shape, not the class: signals of other realms and polyfills are accepted too. */
function isSignal(value: unknown): boolean {
  return typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value;
}

const adviceFor: Record<TimeoutKind, string> = {
  request: "Check that the server is reachable, or allow more with the requestTimeoutSeconds option.",
  execution: "Allow more with the timeoutSeconds option.",
  idle: "Allow more with timeouts.idleSeconds.",
};

/** The longest delay that `setTimeout` accepts, in milliseconds. */
const longestTimer = 2_147_483_647;
