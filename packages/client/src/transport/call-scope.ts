import { AbortError, type SandboxError, TimeoutError, type TimeoutKind } from "../errors.js";

export interface TimeLimit {
  seconds: number;
  kind: TimeoutKind;
  /** What did not happen, as the beginning of a sentence: "The server did not answer". */
  passed: string;
  requestId?: string;
}

/** The life of one call: what may end it from this side, the caller's signal and a time limit, and its end. */
export class CallScope {
  readonly #controller = new AbortController();
  readonly #callerSignal: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #deadline = Number.POSITIVE_INFINITY;
  #failure: SandboxError | undefined;

  constructor(callerSignal: AbortSignal | undefined) {
    this.#callerSignal = callerSignal;
    if (callerSignal === undefined) return;
    if (callerSignal.aborted) this.#onCallerAbort();
    else callerSignal.addEventListener("abort", this.#onCallerAbort);
  }

  /** Fires when the call must stop. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the call was stopped from this side, if it was. */
  get failure(): SandboxError | undefined {
    return this.#failure;
  }

  /** Milliseconds until the limit. */
  get remaining(): number {
    return this.#deadline - performance.now();
  }

  /** From now on the call has this limit, in place of what it had. */
  limit({ seconds, kind, passed, requestId }: TimeLimit): void {
    clearTimeout(this.#timer);
    const milliseconds = seconds * 1000;
    this.#deadline = performance.now() + milliseconds;
    this.#timer = setTimeout(
      () => {
        const summary = `${passed} within ${seconds} s.`;
        this.#stop(new TimeoutError({ summary, hint: adviceFor[kind], kind, code: "TIMEOUT", requestId }));
      },
      Math.min(milliseconds, longestTimer),
    );
  }

  unlimit(): void {
    clearTimeout(this.#timer);
    this.#deadline = Number.POSITIVE_INFINITY;
  }

  /** Throws when the call is stopped meanwhile. */
  async sleep(seconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, seconds * 1000);
      this.signal.addEventListener("abort", done);
    });
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Lets go of the caller's signal and of the timer. */
  end(): void {
    clearTimeout(this.#timer);
    this.#callerSignal?.removeEventListener("abort", this.#onCallerAbort);
  }

  readonly #onCallerAbort = (): void => this.#stop(new AbortError(this.#callerSignal?.reason));

  #stop(failure: SandboxError): void {
    this.#failure ??= failure;
    this.#controller.abort(this.#failure);
  }
}

const adviceFor: Record<TimeoutKind, string> = {
  request: "Check that the server is reachable, or allow more with the requestTimeout option.",
  execution: "Allow more with the timeout option.",
  lifetime: "Allow more with timeoutSeconds or setTimeout().",
  idle: "Allow more with timeouts.idle.",
};

/** What setTimeout can hold. */
const longestTimer = 2_147_483_647;
