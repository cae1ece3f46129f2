import type { Answer } from "./api.js";

/** What the workload asked for, and how that was answered. */
export class Tally {
  /** Answered with success, by kind of operation. */
  readonly byKind: Record<string, number> = {};
  /** Asked for and never answered, because the server was killed. */
  unanswered = 0;
  /** Answered with 507 where that was to be expected: nothing was changed. */
  refusedForRoom = 0;
  /** Which kinds of operation a full data directory refuses now. */
  mayBeRefusedForRoom: (kind: string) => boolean = () => false;
  /** Answers that nobody should get. */
  readonly refusals: string[] = [];

  get acknowledged(): number {
    return Object.values(this.byKind).reduce((sum, count) => sum + count, 0);
  }

  get answered(): number {
    return this.acknowledged + this.refusedForRoom + this.refusals.length;
  }

  /** The answer, or undefined when there was none that says that it is done; `onRefused` is told that it is not. */
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
    if (answer.status === 507 && answer.body.code === "STORAGE_FULL" && this.mayBeRefusedForRoom(kind)) {
      this.refusedForRoom += 1;
      onRefused();
      return undefined;
    }
    this.refusals.push(`${kind}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`);
    return undefined;
  }
}
