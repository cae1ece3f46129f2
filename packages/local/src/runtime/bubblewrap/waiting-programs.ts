import { freemem, totalmem } from "node:os";
import { isDeepStrictEqual } from "node:util";
import type { OneShotLanguage } from "@cloud-sandbox/server-kit/execution";
import type { ProgramPlan, ProgramSpec } from "../sandbox-runtime.js";
import type { StartedProgram } from "./program-start.js";

/** Milliseconds without a call after which a program is started ahead, so that none delays a caller. */
const quietMs = 20;
/** Milliseconds after which a call counts no longer: it has begun, and may last for hours. */
const beginningMs = 1000;
/** The languages whose programs can be started before their code is known. */
const languages: readonly OneShotLanguage[] = ["python", "javascript"];
/** How many programs of a language wait. */
const mostOfLanguage = 2;
/** Milliseconds after the last call for a language at which its programs are ended. */
const forgottenMs = 600_000;
/** The share of the host's memory that must be free for another program to wait. */
const freeShare = 0.1;
/** Milliseconds before a program that ended while it waited is replaced: doubled each time, until a program is taken. */
const shortestPauseMs = 1000;
const longestPauseMs = 60_000;

interface Waiting {
  readonly plan: ProgramPlan;
  /** Undefined if it could not be started. */
  readonly program: Promise<StartedProgram | undefined>;
}

/**
 * Keeps programs started that no caller has asked for yet: isolated, the interpreter waiting for its request. Which ones
 * follows what was asked for lately. Each runs one program at most. They are started only while nobody waits.
 */
export class WaitingPrograms {
  /** The plan for each language, and when the language was asked for. */
  readonly #wanted = new Map<OneShotLanguage, { plan: ProgramPlan; askedAt: number }>();
  readonly #waiting = new Set<Waiting>();
  readonly #discarded = new Set<Promise<void>>();
  /** The limits that were asked for last, for each language. */
  readonly #asked = new Map<OneShotLanguage, ProgramPlan["limits"]>();
  #isOn = false;
  #calls = 0;
  #isStarting = false;
  #isClosed = false;
  #pauseMs = shortestPauseMs;
  /** When the next program may be started after one that ended while it waited. */
  #notBefore = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly start: (plan: ProgramPlan) => Promise<StartedProgram>) {}

  /** The number of programs that wait or are being started. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Starts programs for this plan, and from now on for what calls ask for. Without this call none are started. */
  expect(plan: ProgramPlan): void {
    this.#isOn = true;
    this.#note(plan);
    if (this.#calls === 0) this.#fillIn(0);
  }

  /** A program that waits. Undefined if there is none with these limits: the caller starts its own. */
  async take(spec: ProgramSpec): Promise<StartedProgram | undefined> {
    if (!this.#isOn) return undefined;
    this.#note(spec);
    for (const each of this.#waiting) {
      if (!isLike(each.plan, spec)) continue;
      this.#waiting.delete(each);
      const program = await each.program;
      if (program?.isUsable) {
        this.#pauseMs = shortestPauseMs;
        this.#notBefore = 0;
        return program;
      }
      this.#discard(each);
    }
    return undefined;
  }

  /** Begins a call, while which no program is started ahead. The function that is returned ends it. */
  beginCall(): () => void {
    this.#calls += 1;
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(limit);
      this.#calls -= 1;
      this.#fillIn(quietMs);
    };
    const limit = setTimeout(end, beginningMs).unref();
    return end;
  }

  /** Ends all that wait. Resolves when nothing of them is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const each of this.#waiting) this.#discard(each);
    await Promise.all(this.#discarded);
  }

  /** Other limits must be asked for twice in a row: one caller who changes them each time takes no programs from the others. */
  #note({ language, limits }: ProgramPlan): void {
    if (!languages.includes(language)) return;
    const isAgain = isDeepStrictEqual(this.#asked.get(language), limits);
    this.#asked.set(language, limits);
    const plan = (!isAgain && this.#wanted.get(language)?.plan) || { language, limits };
    this.#wanted.set(language, { plan, askedAt: performance.now() });
  }

  #fillIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    const pause = this.#notBefore - performance.now();
    if (!this.#isClosed && this.#wanted.size > 0)
      this.#timer = setTimeout(() => this.#fill(), Math.max(milliseconds, pause)).unref();
  }

  /** Starts the next program that is missing, unless somebody waits: the end of a call comes back here. */
  #fill(): void {
    this.#forget();
    if (this.#calls > 0 || this.#isStarting) return;
    const plan = this.#missing();
    // The end of the next call looks again.
    if (!plan || freemem() < freeShare * totalmem()) {
      this.#fillIn(forgottenMs);
      return;
    }
    this.#isStarting = true;
    const program = this.start(plan).catch(() => undefined);
    const waiting = { plan, program };
    this.#waiting.add(waiting);
    void program.then(async (started) => {
      await started?.begun;
      this.#isStarting = false;
      if (started) this.#fillIn(quietMs);
      await started?.ended;
      if (this.#waiting.has(waiting)) this.#replace(waiting);
    });
  }

  #missing(): ProgramPlan | undefined {
    const waiting = (language: OneShotLanguage): number =>
      [...this.#waiting].filter(({ plan }) => plan.language === language).length;
    return [...this.#wanted.values()]
      .map(({ plan }) => ({ plan, count: waiting(plan.language) }))
      .filter(({ count }) => count < mostOfLanguage)
      .sort((one, other) => one.count - other.count)[0]?.plan;
  }

  /** Replaces a program that has ended, or could not be started, later each time. */
  #replace(waiting: Waiting): void {
    this.#discard(waiting);
    this.#notBefore = performance.now() + this.#pauseMs;
    this.#fillIn(0);
    this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs);
  }

  /** Ends programs that nobody asks for any more, in that language or with those limits. */
  #forget(): void {
    for (const [language, { askedAt }] of this.#wanted)
      if (performance.now() - askedAt >= forgottenMs) this.#wanted.delete(language);
    for (const each of this.#waiting) {
      const wanted = this.#wanted.get(each.plan.language);
      if (!wanted || !isLike(each.plan, wanted.plan)) this.#discard(each);
    }
  }

  #discard(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    const discarded = waiting.program
      .then((program) => program?.discard())
      .finally(() => this.#discarded.delete(discarded));
    this.#discarded.add(discarded);
  }
}

const isLike = (one: ProgramPlan, other: ProgramPlan): boolean =>
  one.language === other.language && isDeepStrictEqual(one.limits, other.limits);
