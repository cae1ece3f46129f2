import { exitCodeOf, failed } from "../errors/command-error.js";

/**
 * Tells a command that it is to end: by Ctrl-C, by a signal, or because nobody can read what it prints. The first one aborts
 * `signal`, so that the command can leave nothing behind; a second signal ends the process at once.
 */
export class Interruption {
  readonly #controller = new AbortController();
  #signal: "SIGINT" | "SIGTERM" | "SIGHUP" | undefined;
  #lost: NodeJS.ErrnoException | undefined;

  constructor() {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => {
        this.#signal ??= signal;
        this.#controller.abort(new Error(signal));
      });
    }
    for (const stream of [process.stdout, process.stderr]) {
      stream.on("error", (error: NodeJS.ErrnoException) => {
        this.#lost ??= error;
        this.#controller.abort(error);
      });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isInterrupted(): boolean {
    return this.#signal !== undefined;
  }

  /** The exit code of an interrupted command; undefined if nothing interrupted it. */
  get exitCode(): number | undefined {
    if (this.#signal !== undefined) return exitCodeOf(this.#signal);
    if (this.#lost === undefined) return undefined;
    return this.#lost.code === "EPIPE" ? exitCodeOf("SIGPIPE") : failed;
  }
}
