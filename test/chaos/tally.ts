import type { Answer } from "./api.js";

/** What the workload asked for, and how that was answered. */
export class Tally {
  /** Answered with success, by kind of operation. */
  readonly byKind: Record<string, number> = {};
  /** Asked for and never answered, because the server was killed. */
  unanswered = 0;
  /** Answers that nobody should get. */
  readonly refusals: string[] = [];

  get acknowledged(): number {
    return Object.values(this.byKind).reduce((sum, count) => sum + count, 0);
  }

  /** The answer, or undefined when there was none that says that it is done. */
  async ask(kind: string, ask: () => Promise<Answer>): Promise<Answer | undefined> {
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
    this.refusals.push(`${kind}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`);
    return undefined;
  }
}
