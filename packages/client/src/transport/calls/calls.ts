import {
  AbortError,
  clientClosed,
  invalidArgument,
  type SandboxError,
  TimeoutError,
  type TimeoutKind,
} from "../../errors/errors.js";

/** The running calls of a client, and the streamed answers of calls that have returned. */
export class Calls {
  readonly #running = new Set<Promise<unknown>>();
  readonly #streams = new Set<CallScope>();
  readonly #stoppable = new Set<CallScope>();
  #isClosed = false;

  /**
   * Runs a call, unless the client is closed. `isPart`: a request of a call that is already running; allowed after close
   * began.
   */
  async during<Result>(call: () => Promise<Result>, isPart = false): Promise<Result> {
    if (this.#isClosed && !isPart) throw clientClosed();
    const running = call();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Registers a streamed answer. The returned function must be called when the stream ends; it ends the scope. */
  stream(scope: CallScope): () => void {
    this.#streams.add(scope);
    return () => {
      this.#streams.delete(scope);
      scope.end();
    };
  }

  /** Registers a call that `stop()` can stop. The returned function must be called when the call is over. */
  stoppable(scope: CallScope): () => void {
    this.#stoppable.add(scope);
    return () => void this.#stoppable.delete(scope);
  }

  /** Refuses new calls and waits for the running ones. */
  async end(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#running);
  }

  /** Stops the running calls. Their cleanup may still run. */
  stop(): void {
    for (const scope of this.#stoppable) scope.stop(clientClosed());
  }

  /** Ends the streams, because some may have no reader who would end them. */
  endStreams(): void {
    this.#isClosed = true;
    for (const scope of this.#streams) {
      scope.stop(clientClosed());
      scope.end();
    }
  }
}

/** The part of an AbortSignal that is needed to stop a call. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

interface TimeLimit {
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

interface Audience {
  stops: Set<() => void>;
  listener: () => void;
}

const audiences = new WeakMap<AbortSignal, Audience>();

/**
 * Calls `stop` when the caller's signal fires; the returned function cancels that. Adds only one listener per signal,
 * because Node.js warns of a leak at more than ten.
 */
export function onAbort(signal: AbortSignal, stop: () => void): () => void {
  const audience = audiences.get(signal) ?? gather(signal);
  audience.stops.add(stop);
  return () => {
    if (!audience.stops.delete(stop) || audience.stops.size > 0) return;
    signal.removeEventListener("abort", audience.listener);
    audiences.delete(signal);
  };
}

function gather(signal: AbortSignal): Audience {
  const stops = new Set<() => void>();
  const listener = (): void => {
    for (const stop of [...stops]) stop();
  };
  const audience = { stops, listener };
  signal.addEventListener("abort", listener);
  audiences.set(signal, audience);
  return audience;
}

/**
 * Awaits `work`, or rejects with the signal's reason if it fires first. `work` itself continues, because other callers
 * may wait for it.
 */
export async function unlessAborted<Value>(work: Promise<Value>, signal: StopSignal): Promise<Value> {
  if (signal.aborted) throw signal.reason;
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The server's current time. Deadlines are by the server's clock, which may be hours off this machine's. */
export class ServerClock {
  #offset = 0;

  /** Sets the server's time from the Date header of an answer, which is exact to the second. */
  observe(date: string | undefined): void {
    const offset = Date.parse(date ?? "") - Date.now();
    if (!Number.isNaN(offset)) this.#offset = Math.abs(offset) < usualDifference ? 0 : offset;
  }

  /** Milliseconds until a time by the server's clock; negative if it has passed. */
  until(time: Date): number {
    return time.getTime() - (Date.now() + this.#offset);
  }
}

/** Milliseconds below which a difference is ignored: the header is rounded, and the answer took time to arrive. */
const usualDifference = 3000;

/** Records when this client last used a sandbox, and whether it is using it now. */
export class Activity {
  #running = 0;
  #last = performance.now();

  /** Records the start of a use. The returned function records its end. */
  begin(): () => void {
    this.#running++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#running--;
      this.#last = performance.now();
    };
  }

  /** Milliseconds since the last use ended; 0 during a use. */
  get idle(): number {
    return this.#running > 0 ? 0 : performance.now() - this.#last;
  }
}
