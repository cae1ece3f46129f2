import { outputPiece, readRange } from "@cloud-sandbox/server-kit/execution";
import {
  type BackgroundDescription,
  type BackgroundExecution,
  type BackgroundOutcome,
  type BackgroundOutput,
  type BackgroundStatus,
  type OutputPiece,
  statusOf,
} from "@cloud-sandbox/server-kit/handlers";

/**
 * An execution that an earlier agent in this sandbox started. It is always finished: if it still ran when that agent died,
 * recovery killed it.
 */
export class RecoveredExecution implements BackgroundExecution {
  readonly ended = Promise.resolve();
  readonly values = undefined;

  constructor(
    readonly id: string,
    readonly pid: number,
    readonly description: BackgroundDescription,
    readonly startedAt: Date,
    readonly endedAt: Date,
    readonly outcome: BackgroundOutcome,
    readonly stdout: StoredOutput,
    readonly stderr: StoredOutput,
  ) {}

  get status(): BackgroundStatus {
    return statusOf(this);
  }

  get duration(): number {
    return this.outcome.duration;
  }

  kill(): Promise<void> {
    return this.ended;
  }
}

/** The output of a recovered execution: only its file, which may be missing. */
export class StoredOutput implements BackgroundOutput {
  constructor(
    private readonly path: string,
    readonly bytes: number,
  ) {}

  get file(): string | undefined {
    return this.bytes > 0 ? this.path : undefined;
  }

  async piece(offset: number, limit: number): Promise<OutputPiece> {
    const { bytes: total } = this;
    const length = Math.max(0, Math.min(limit, total - offset));
    const bytes = length > 0 ? await readRange(this.path, offset, length) : Buffer.alloc(0);
    // The file is missing or unreadable. Return an empty piece that reaches to the end, so that the reader finishes.
    if (!bytes) return { text: "", start: total, end: total };
    return outputPiece({ start: offset, bytes }, { offset, total, isComplete: true });
  }
}
