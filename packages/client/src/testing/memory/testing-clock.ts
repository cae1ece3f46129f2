import { invalidArgument } from "../../errors/errors.js";

interface Alarm {
  readonly at: number;
  readonly ring: () => void;
}

/** The longest delay of a timer, in milliseconds. Longer waits use several timers. */
const longestTimer = 2 ** 31 - 1;

/** Microtask turns to wait after each event, so that programs can go on. */
const turns = 100;

/** The service's clock. It follows real time, and a test can advance it. */
export class TestingClock {
  #ahead = 0;
  readonly #alarms = new Set<Alarm>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** The service's current time. */
  now(): Date {
    return new Date(Date.now() + this.#ahead);
  }

  /**
   * Advances the clock, from one due event to the next: ends of lifetimes, time limits of programs, and their `sleep`.
   * Before the next event, and before this resolves, programs have done everything that they can do without waiting.
   */
  async advance(seconds: number): Promise<void> {
    if (!(seconds >= 0 && Number.isFinite(seconds)))
      throw invalidArgument("The clock advances by a number of seconds that is not below 0.");
    const target = this.now().getTime() + seconds * 1000;
    for (let next = this.#next; next !== undefined && next <= target; next = this.#next) {
      this.#ahead += Math.max(next - this.now().getTime(), 0);
      this.#ring();
      for (let count = 0; count < turns; count++) await undefined;
    }
    this.#ahead += Math.max(target - this.now().getTime(), 0);
    this.#wind();
  }

  /**
   * Calls `ring` once at the given time; the returned function cancels that.
   * @internal
   */
  at(time: Date, ring: () => void): () => void {
    const alarm = { at: time.getTime(), ring };
    this.#alarms.add(alarm);
    this.#wind();
    return () => this.#alarms.delete(alarm);
  }

  get #next(): number | undefined {
    return this.#alarms.size === 0 ? undefined : Math.min(...[...this.#alarms].map(({ at }) => at));
  }

  #ring(): void {
    const now = this.now().getTime();
    const due = [...this.#alarms].filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
    for (const alarm of due) if (this.#alarms.delete(alarm)) alarm.ring();
    this.#wind();
  }

  #wind(): void {
    clearTimeout(this.#timer);
    if (this.#next === undefined) return;
    const wait = Math.max(this.#next - this.now().getTime(), 0);
    this.#timer = setTimeout(() => this.#ring(), Math.min(wait, longestTimer));
    // Unref the timer, so that an undeleted sandbox does not keep a test's process alive. In browsers a timer is a
    // number.
    if (typeof this.#timer === "object") this.#timer.unref();
  }
}
