/** The time as the server has it: deadlines are by its clock, which may be hours from this machine's. */
export class ServerClock {
  #offset = 0;

  /** Takes what an answer says in its Date header, to the second. */
  observe(date: string | null): void {
    const offset = Date.parse(date ?? "") - Date.now();
    if (!Number.isNaN(offset)) this.#offset = Math.abs(offset) < usualDifference ? 0 : offset;
  }

  /** Milliseconds until a time that the server named; negative when it has passed. */
  until(time: Date): number {
    return time.getTime() - (Date.now() + this.#offset);
  }
}

/** Milliseconds: the header is rounded, and its answer took some time to come. */
const usualDifference = 3000;
