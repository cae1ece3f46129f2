import {
  type BackgroundDescription,
  type BackgroundExecution,
  type BackgroundOutcome,
  type BackgroundStatus,
  type BackgroundValues,
  type ExecutionSource,
  executionNotFound,
  statusOf,
} from "@cloud-sandbox/server-kit/handlers";
import type { TestingClock } from "../memory/testing-clock.js";
import type { RunningProgram } from "./running-program.js";

/** The background programs of a sandbox, running and ended. */
export class BackgroundExecutions implements ExecutionSource {
  readonly #executions = new Map<string, BackgroundExecution>();

  constructor(private readonly clock: TestingClock) {}

  add(program: RunningProgram, description: BackgroundDescription): BackgroundExecution {
    const execution = new ProgramExecution(program, description, this.clock);
    this.#executions.set(execution.id, execution);
    return execution;
  }

  list(): readonly BackgroundExecution[] {
    return [...this.#executions.values()];
  }

  get(id: string): BackgroundExecution {
    const execution = this.#executions.get(id);
    if (execution) return execution;
    throw executionNotFound(id);
  }
}

/** A new execution id. Its prefix tells clients whether the execution is a command or code. */
export const newBackgroundId = (kind: BackgroundDescription["kind"]): string =>
  `${kind}_${globalThis.crypto.randomUUID().replaceAll("-", "").slice(0, 20)}`;

class ProgramExecution implements BackgroundExecution {
  readonly ended: Promise<void>;
  endedAt: Date | undefined;
  outcome: BackgroundOutcome | undefined;
  values: BackgroundValues | undefined;
  readonly #program: RunningProgram;

  constructor(
    program: RunningProgram,
    readonly description: BackgroundDescription,
    private readonly clock: TestingClock,
  ) {
    this.#program = program;
    this.ended = program.outcome
      .then(({ reason, exitCode, duration, ...values }) => {
        this.outcome = { reason, exitCode, duration };
        this.values = values;
      })
      // Ignore the error: the test's handler threw, so the execution failed without a result.
      .catch(() => undefined)
      .finally(() => {
        this.endedAt = clock.now();
      });
  }

  get id(): string {
    return this.#program.id;
  }

  get pid(): number {
    return this.#program.pid;
  }

  get stdout() {
    return this.#program.stdout;
  }

  get stderr() {
    return this.#program.stderr;
  }

  get startedAt(): Date {
    return this.#program.startedAt;
  }

  get status(): BackgroundStatus {
    return statusOf(this);
  }

  get duration(): number {
    const until = this.endedAt ?? this.clock.now();
    return this.outcome?.duration ?? (until.getTime() - this.startedAt.getTime()) / 1000;
  }

  async kill(): Promise<void> {
    this.#program.kill();
    await this.ended;
  }
}
