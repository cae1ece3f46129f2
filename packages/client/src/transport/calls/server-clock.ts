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
