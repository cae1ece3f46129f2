import type { ClearableCache } from "./cache-handlers.js";
import type { Outcome } from "./outcome.js";

export const mostKeptOutcomes = 256;
/** Seconds. */
export const outcomeLifetime = 3600;

/** What makes two executions the same. */
export interface ExecutionIdentity {
  readonly language: string;
  readonly code: string;
  readonly cwd: string;
  /** All variables: the sandbox's and the request's. */
  readonly variables: Readonly<Record<string, string>>;
  readonly isCell: boolean;
}

/** Where outcomes are kept: at most {@link mostKeptOutcomes} of them, each for {@link outcomeLifetime}. */
export interface KeptOutcomes {
  get(key: string): Outcome | undefined;
  set(key: string, outcome: Outcome): void;
  /** Entries that have not expired. */
  readonly size: number;
  clear(): void;
}

/** Keeps outcomes of executions whose callers set `cache`: nothing but their identity decides what they do. */
export class ExecutionCache implements ClearableCache {
  #hits = 0;
  #misses = 0;

  /** `digest` makes a key of a text that holds values of variables. */
  constructor(
    private readonly kept: KeptOutcomes,
    private readonly digest: (text: string) => string,
  ) {}

  /** The kept outcome of the same execution, or else that of `run`; and which of the two it is. */
  async outcome(
    identity: ExecutionIdentity,
    run: () => Promise<Outcome>,
  ): Promise<{ readonly outcome: Outcome; readonly cached: boolean }> {
    const key = this.digest(textOf(identity));
    const kept = this.kept.get(key);
    if (kept) {
      this.#hits += 1;
      return { outcome: kept, cached: true };
    }
    this.#misses += 1;
    const outcome = await run();
    // The file with a truncated output may be removed; an execution that failed may succeed the next time.
    if (outcome.exitCode === 0 && !outcome.stdout.truncated && !outcome.stderr.truncated)
      this.kept.set(key, outcome);
    return { outcome, cached: false };
  }

  get size(): number {
    return this.kept.size;
  }

  clear(): number {
    const { size } = this;
    this.kept.clear();
    return size;
  }

  get counts() {
    return {
      size: this.size,
      max_size: mostKeptOutcomes,
      ttl: outcomeLifetime,
      hits: this.#hits,
      misses: this.#misses,
    };
  }
}

function textOf({ language, code, cwd, variables, isCell }: ExecutionIdentity): string {
  const sorted = Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([language, code, cwd, sorted, isCell]);
}
