/** Reports the progress of a call to a client that asked for it. */
import type { ServerContext } from "@modelcontextprotocol/server";

/** Milliseconds between reports while nothing new happens: clients wait longer for a call that reports progress. */
const usualHeartbeat = 5_000;

type Tell = (progress: number, message: string) => void;

export class Progress {
  readonly #tell: Tell;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #count = 0;
  #step = "Working";

  constructor(tell: Tell, heartbeat = usualHeartbeat) {
    this.#tell = tell;
    this.#timer = setInterval(() => this.#beat(), heartbeat).unref();
  }

  /** Reports the current step. */
  report(step: string): void {
    this.#step = step;
    this.#send(step);
    this.#timer.refresh();
  }

  /** Stops the reports: none may follow the answer of the call. */
  end(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    this.#send(`${this.#step} (${seconds} s since the call)`);
  }

  /** The number of steps is not known in advance, so each report counts one up. */
  #send(message: string): void {
    this.#count += 1;
    this.#tell(this.#count, message);
  }
}

/** The progress of one call. Undefined when its caller did not ask for it. */
export function progressOf({ mcpReq }: ServerContext): Progress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return new Progress((progress, message) => {
    const params = { progressToken, progress, message };
    // The caller may have left; the work must not fail because of that.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  });
}
