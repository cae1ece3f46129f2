type CleanUp = () => Promise<void>;

/** Runs `cleanUp` before a signal ends this process, until the function it returns is called. Does nothing in browsers. */
export function beforeTermination(cleanUp: CleanUp): () => void {
  if (typeof globalThis.process?.listenerCount !== "function") return () => undefined;
  const watch = sharedWatch();
  watch.add(cleanUp);
  return () => watch.remove(cleanUp);
}

/**
 * Whether a signal is ending this process after a clean-up. What then fails because its sandbox is deleted is not told:
 * nobody could handle it, and an unhandled failure would give the process another exit code.
 */
export function isTerminating(): boolean {
  return typeof globalThis.process?.listenerCount === "function" && sharedWatch().isEnding;
}

/**
 * Listens only while there is something to clean up, and only for signals that nobody else listens to: a program that does
 * has taken its end in its own hands. The process then dies of the signal as it would have, so that its exit code is the same;
 * a second signal kills it at once.
 */
class TerminationWatch {
  readonly #cleanUps = new Set<CleanUp>();
  isEnding = false;

  add(cleanUp: CleanUp): void {
    // Before all others: who listens for one signal only does so no longer when that one has come to them.
    if (this.#cleanUps.size === 0 && !this.isEnding)
      for (const signal of signals) process.prependListener(signal, this.#onSignal);
    this.#cleanUps.add(cleanUp);
  }

  remove(cleanUp: CleanUp): void {
    if (this.#cleanUps.delete(cleanUp) && this.#cleanUps.size === 0) this.#stopListening();
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    // Until then somebody listens, or those who leave it to others would end the process.
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
/** Milliseconds. */
const longestCleanUp = 5000;

/** One for all copies of this package in the process: each would take the others for listeners of the program. */
function sharedWatch(): TerminationWatch {
  const key = Symbol.for("cloud-sandbox.termination-watch.1");
  const existing: TerminationWatch | undefined = Reflect.get(globalThis, key);
  if (existing !== undefined) return existing;
  const watch = new TerminationWatch();
  Object.defineProperty(globalThis, key, { value: watch, configurable: true });
  return watch;
}

/** The package signal-exit, which many programs have without knowing, also leaves the signal to others where there are any. */
function countOfPoliteListeners(): number {
  const emitter: { count?: unknown } | undefined = Reflect.get(globalThis, Symbol.for("signal-exit emitter"));
  return typeof emitter?.count === "number" ? emitter.count : 0;
}
