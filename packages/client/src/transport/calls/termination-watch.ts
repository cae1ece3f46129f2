type CleanUp = () => Promise<void>;

/**
 * Runs `cleanUp` before SIGINT or SIGTERM ends this process. The returned function cancels that. Does nothing in
 * browsers.
 */
export function beforeTermination(cleanUp: CleanUp): () => void {
  if (typeof globalThis.process?.listenerCount !== "function") return () => undefined;
  const watch = sharedWatch();
  watch.add(cleanUp);
  return () => watch.remove(cleanUp);
}

/**
 * Whether a signal is ending this process after a cleanup. Calls that then fail because their sandbox was deleted never
 * settle: nobody could handle the error, and an unhandled rejection would change the exit code.
 */
export function isTerminating(): boolean {
  return typeof globalThis.process?.listenerCount === "function" && sharedWatch().isEnding;
}

/**
 * Listens only while there is something to clean up, and acts only if the program itself does not listen to the signal:
 * such a program controls its own end. After the cleanup the process dies of the same signal, so its exit code is
 * unchanged. A second signal kills it at once.
 */
class TerminationWatch {
  readonly #cleanUps = new Set<CleanUp>();
  isEnding = false;

  add(cleanUp: CleanUp): void {
    // Listen before all others: a listener added with `once` is already removed when later listeners run, so it would not
    // be counted.
    if (this.#cleanUps.size === 0 && !this.isEnding)
      for (const signal of signals) process.prependListener(signal, this.#onSignal);
    this.#cleanUps.add(cleanUp);
  }

  remove(cleanUp: CleanUp): void {
    if (this.#cleanUps.delete(cleanUp) && this.#cleanUps.size === 0) this.#stopListening();
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    // Keep listening until now: without any listener, signal-exit would end the process.
    const die = (): void => {
      this.#stopListening();
      process.kill(process.pid, signal);
    };
    if (this.isEnding) {
      die();
      return;
    }
    if (process.listenerCount(signal) > 1 + countOfPoliteListeners()) return;
    this.isEnding = true;
    const cleanUps = [...this.#cleanUps].map((cleanUp) => cleanUp());
    this.#cleanUps.clear();
    setTimeout(die, longestCleanUp);
    void Promise.allSettled(cleanUps).then(die);
  };

  #stopListening(): void {
    for (const signal of signals) process.off(signal, this.#onSignal);
  }
}

const signals: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM"];
/** Milliseconds for the cleanup, after which the process ends anyway. */
const longestCleanUp = 5000;

/**
 * One watch for all copies of this package in the process: each copy would take the others' listeners for the program's.
 */
function sharedWatch(): TerminationWatch {
  const key = Symbol.for("cloud-sandbox.termination-watch.1");
  const existing: TerminationWatch | undefined = Reflect.get(globalThis, key);
  if (existing !== undefined) return existing;
  const watch = new TerminationWatch();
  Object.defineProperty(globalThis, key, { value: watch, configurable: true });
  return watch;
}

/**
 * Listeners of the package signal-exit, a common indirect dependency. They do not count as the program's: signal-exit
 * also leaves the signal to other listeners.
 */
function countOfPoliteListeners(): number {
  const emitter: { count?: unknown } | undefined = Reflect.get(globalThis, Symbol.for("signal-exit emitter"));
  return typeof emitter?.count === "number" ? emitter.count : 0;
}
