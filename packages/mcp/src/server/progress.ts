/** Tells a client that asked for it how far a call is, and that it goes on. */
import type { ServerContext } from "@modelcontextprotocol/server";

/** Milliseconds. Clients that wait longer for a call that reports need to hear of it. */
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

  /** What happens now. */
  report(step: string): void {
    this.#step = step;
    this.#send(step);
    this.#timer.refresh();
  }

  /** Nothing may be told once the call is answered. */
  end(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    this.#send(`${this.#step} (${seconds} s since the call)`);
  }

  /** Steps are counted as they come; how many there will be is not known. */
  #send(message: string): void {
    this.#count += 1;
    this.#tell(this.#count, message);
  }
}

/** The progress of one call; undefined where its caller has not asked for it. */
export function progressOf({ mcpReq }: ServerContext): Progress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return new Progress((progress, message) => {
    const params = { progressToken, progress, message };
    // A caller that has left hears nothing, and the work must not fail for it.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  });
}
