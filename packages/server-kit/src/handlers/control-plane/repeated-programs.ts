import { Problem } from "../../http/problem.js";

const keptMs = 60 * 60 * 1000;
const keptKeys = 10_000;
/** Most characters of all answers that are kept, and of a single one. */
const keptCharacters = 16 * 1024 * 1024;
const largestKept = 1024 * 1024;

/**
 * Remembers programs by their `Idempotency-Key` for an hour, so that a request repeated after a broken connection does not
 * run its program a second time.
 */
export class RepeatedPrograms {
  readonly #programs = new Map<string, Remembered>();
  #characters = 0;

  /** `digest` maps a request to a short text that is equal only for equal requests. */
  constructor(private readonly digest: (request: string) => string) {}

  /** Runs a program and returns its answer as JSON. If a program ran under this key before, returns that answer. */
  async run(key: string | undefined, request: unknown, program: RunsOnce): Promise<string> {
    if (key === undefined) return program(() => undefined);
    this.#forgetOld();
    const requestDigest = this.digest(JSON.stringify(request));
    const earlier = this.#programs.get(key);
    if (!earlier) return this.#first(key, requestDigest, program);
    if (earlier.requestDigest !== requestDigest)
      throw new Problem(409, "CONFLICT", "This Idempotency-Key was used with another request.", {
        hint: "Use a new Idempotency-Key for a new program.",
      });
    if (earlier.running !== undefined)
      return earlier.running.catch((error: unknown) => {
        throw earlier.hasStarted ? programNotStored() : error;
      });
    if (earlier.answer === undefined) throw programNotStored();
    return earlier.answer;
  }

  /** Runs a program whose answer is not kept: a request repeated with this key is refused. */
  async runUnstored<Answer>(
    key: string | undefined,
    request: unknown,
    program: (onStart: () => void) => Promise<Answer>,
  ): Promise<Answer> {
    const running: { answer?: Promise<Answer> } = {};
    const text = await this.run(key, request, async (onStart) => {
      running.answer = program(onStart);
      await running.answer;
      return unstored;
    });
    if (running.answer === undefined || text !== unstored) throw programNotStored();
    return running.answer;
  }

  #first(key: string, requestDigest: string, program: RunsOnce): Promise<string> {
    const until = Date.now() + keptMs;
    const remembered: Remembered = { ...none, requestDigest, until };
    const running = program(() => {
      remembered.hasStarted = true;
    });
    remembered.running = running;
    this.#programs.set(key, remembered);
    running.then(
      (answer) => {
        remembered.running = undefined;
        if (answer.length > largestKept || this.#programs.get(key) !== remembered) return;
        remembered.answer = answer;
        this.#characters += answer.length;
      },
      () => {
        remembered.running = undefined;
        // A program that was refused has done nothing, so the key may be used again.
        if (!remembered.hasStarted && this.#programs.get(key) === remembered) this.#programs.delete(key);
      },
    );
    return running;
  }

  #forgetOld(): void {
    for (const [key, { until, answer = "" }] of this.#programs) {
      if (until > Date.now() && this.#programs.size < keptKeys) break;
      this.#programs.delete(key);
      this.#characters -= answer.length;
    }
    for (const remembered of this.#programs.values()) {
      if (this.#characters <= keptCharacters) return;
      this.#characters -= remembered.answer?.length ?? 0;
      remembered.answer = undefined;
    }
  }
}

/** Stands for an answer that is not kept. No answer is empty. */
const unstored = "";

/** Runs a program. Calls `onStart` when the program may have begun, after which it must not be run again. */
type RunsOnce = (onStart: () => void) => Promise<string>;

interface Remembered {
  readonly requestDigest: string;
  hasStarted: boolean;
  /** Rejects or resolves with the answer when the program has ended. Undefined after that. */
  running: Promise<string> | undefined;
  /** The stored answer. Undefined if the program did not end by itself, or if its answer is not stored. */
  answer: string | undefined;
  readonly until: number;
}

const none = { hasStarted: false, running: undefined, answer: undefined };

/** The refusal of a repeated Idempotency-Key whose program has run, but whose answer is not kept. */
export const programNotStored = () =>
  new Problem(
    409,
    "CONFLICT",
    "The program with this Idempotency-Key has run already, and its answer is not stored.",
    {
      hint: "Use a new Idempotency-Key to run the program again.",
    },
  );
