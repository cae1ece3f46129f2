import { Problem } from "@cloud-sandbox/server-kit";

/** Most programs that wait for their turn. */
const mostWaiting = 1024;
/** Milliseconds after which a program that runs no longer keeps the next from being started. */
const shortMs = 1000;

/**
 * Decides when a program is started. A start is CPU work, and most programs are: more at once would only delay each other and
 * the sandboxes of others. Programs that wait or compute for long give their place to the next.
 */
export class ProgramQueue {
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(private readonly places: number) {}

  /** Waits for a place. Call the returned function when the program has ended. Throws a 429 problem when too many wait. */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.#taken >= this.places) await this.#turn(signal);
    else this.#taken += 1;
    let isTaken = true;
    const leave = (): void => {
      clearTimeout(timer);
      if (!isTaken) return;
      isTaken = false;
      const next = this.#waiting.shift();
      // The next one takes the place over.
      if (next) next();
      else this.#taken -= 1;
    };
    const timer = setTimeout(leave, shortMs).unref();
    return leave;
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#waiting.length >= mostWaiting)
      throw new Problem(429, "RESOURCE_LIMIT_ERROR", `${mostWaiting} programs wait to be run already.`, {
        hint: "Send the program again in a second, and fewer programs at a time.",
        headers: { "retry-after": "1" },
        details: { limit: mostWaiting, current: this.#waiting.length, available: 0 },
      });
    await new Promise<void>((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener("abort", give);
        resolve();
      };
      const give = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      this.#waiting.push(go);
      signal.addEventListener("abort", give, { once: true });
    });
  }
}
