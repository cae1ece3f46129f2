import { Problem } from "@cloud-sandbox/server-kit";
import type { MachineLimits } from "../runtime/sandbox-runtime.js";
import { isUnwritable, storageFull } from "../store/storage-problem.js";

/**
 * Milliseconds that saving the files of a sandbox may take, and additional milliseconds for each gibibyte of its disk.
 */
const saveLimitMs = 30_000;
const saveLimitPerGibibyteMs = 20_000;
/** A time limit for saving a sandbox's files, because code in the sandbox can create any number of them. */
export class SaveLimit {
  readonly signal: AbortSignal;
  readonly #seconds: number;

  constructor({ diskMb }: MachineLimits) {
    this.#seconds = Math.ceil((saveLimitMs + (saveLimitPerGibibyteMs * diskMb) / 1024) / 1000);
    this.signal = AbortSignal.timeout(this.#seconds * 1000);
  }

  problem(what: string): Problem {
    return conflict(
      what,
      `saving its files took longer than ${this.#seconds} s`,
      "Remove very many or deeply nested files and try again, or delete the sandbox.",
    );
  }
}

export function conflict(what: string, cause: unknown, advice: string): Problem {
  const reason = (cause instanceof Error ? cause.message : String(cause)).replace(/\.?$/, ".");
  return new Problem(409, "CONFLICT", `${what}: ${reason}`, { hint: advice, cause });
}

/** The problem for a failure that a caller is told of: itself, if it is one already. */
export function problemFrom(error: unknown, what: string, advice: string): Problem {
  if (error instanceof Problem) return error;
  return isUnwritable(error) ? storageFull(error) : conflict(what, error, advice);
}
