import { invalidArgument } from "../../errors/errors.js";

interface Alarm {
  readonly at: number;
  readonly ring: () => void;
}

/** Longer waits are made of several: a timer takes no more milliseconds. */
const longestTimer = 2 ** 31 - 1;

/** Turns of the microtask queue, in which programs go on. */
const turns = 100;

/** The service's time. It goes by as everybody's does, and a test may move it on. */
export class TestingClock {
  #ahead = 0;
  readonly #alarms = new Set<Alarm>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** What the service takes for the time. */
  now(): Date {
    return new Date(Date.now() + this.#ahead);
  }

  /**
   * Moves the time on, from one thing that falls due to the next: lifetimes, time limits of programs, and their `sleep`. What a
   * program does without waiting for anything else has happened before the next one falls due, and when this resolves.
   */
  async advance(seconds: number): Promise<void> {
    if (!(seconds >= 0 && Number.isFinite(seconds)))
      throw invalidArgument("The clock advances by a number of seconds that is not below 0.");
    const target = this.now().getTime() + seconds * 1000;
    for (let next = this.#next; next !== undefined && next <= target; next = this.#next) {
      this.#ahead += Math.max(next - this.now().getTime(), 0);
      this.#ring();
      for (let turn = 0; turn < turns; turn++) await undefined;
    }
    this.#ahead += Math.max(target - this.now().getTime(), 0);
    this.#wind();
  }

  /**
   * Calls once when the time has come. Returns what prevents it.
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
    // A sandbox that nobody deletes must not keep a test's process alive. In browsers a timer is a number.
    if (typeof this.#timer === "object") this.#timer.unref();
  }
}
