import type { Answer } from "./api.js";

/** Counts the requests of the workload by how they were answered. */
export class Tally {
  /** The number of successes, by kind of operation. */
  readonly byKind: Record<string, number> = {};
  /** The number of requests that were never answered, because the server was killed. */
  unanswered = 0;
  /** The number of requests that were refused with 507 while the disk was full. */
  refusedForRoom = 0;
  /** Whether an operation of this kind may be refused with 507 now. */
  mayBeRefusedForRoom: (kind: string) => boolean = () => false;
  /** The number of requests that were refused because what the server depends on was killed. */
  refusedMeanwhile = 0;
  /** Whether an operation of this kind may be refused now for that. */
  mayBeRefusedMeanwhile: (kind: string) => boolean = () => false;
  /** Answers that the server should not have given. */
  readonly refusals: string[] = [];

  get acknowledged(): number {
    return Object.values(this.byKind).reduce((sum, count) => sum + count, 0);
  }

  get answered(): number {
    return this.acknowledged + this.refusedForRoom + this.refusals.length;
  }

  /**
   * Sends a request and counts its answer. Resolves with the answer of a success, otherwise with undefined. `onRefused`
   * is called for an expected refusal because the disk is full: nothing was changed then.
   */
  async ask(
    kind: string,
    ask: () => Promise<Answer>,
    onRefused: () => void = () => undefined,
  ): Promise<Answer | undefined> {
    let answer: Answer;
    try {
      answer = await ask();
    } catch {
      this.unanswered += 1;
      return undefined;
    }
    if (answer.status < 300) {
      this.byKind[kind] = (this.byKind[kind] ?? 0) + 1;
      return answer;
    }
    if (isForRoom(answer) && this.mayBeRefusedForRoom(kind)) {
      this.refusedForRoom += 1;
      onRefused();
      return undefined;
    }
    if (this.mayBeRefusedMeanwhile(kind)) {
      this.refusedMeanwhile += 1;
      return undefined;
    }
    this.refusals.push(`${kind}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`);
    return undefined;
  }
}

/** Whether a request was refused because the data directory is full. One that would have started a sleeping sandbox is told to try again. */
const isForRoom = ({ status, body }: Answer): boolean =>
  (status === 507 && body.code === "STORAGE_FULL") ||
  (status === 503 && String(body.error).includes("its data directory is full"));
