import {
  type BackgroundDescription,
  type BackgroundExecution,
  executionNotFound,
} from "@cloud-sandbox/server-kit/handlers";
import type { OutputFiles } from "../output/output-files.js";
import type { Execution } from "../programs/executor.js";
import { newBackgroundId } from "./background-end.js";
import type { BackgroundRecords } from "./background-records.js";
import { StartedExecution } from "./started-execution.js";

export const mostKept = 256;
/** Number of executions whose displayed values are kept. The values of one execution take up to 8 MiB. */
const keptValues = 8;

/**
 * What a program is started with: the id of the execution, the signal that ends it, and the files for its
 * output.
 */
export interface BackgroundTerms {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly background: OutputFiles;
}

/** The running executions and the most recent finished ones, including those of an earlier agent in this sandbox. */
export class BackgroundExecutions {
  readonly #executions = new Map<string, BackgroundExecution>();

  constructor(
    private readonly files: OutputFiles,
    private readonly records: BackgroundRecords,
  ) {}

  /** Loads the executions of an earlier agent that was killed. */
  async recover(): Promise<void> {
    for (const execution of await this.records.recover()) this.#executions.set(execution.id, execution);
  }

  /**
   * Starts a program in the background. If the caller disconnects before it gets the answer, the program is not started or is
   * ended: nobody else knows the execution's id.
   */
  async start(
    launch: (terms: BackgroundTerms) => Promise<Execution>,
    description: BackgroundDescription,
    caller: AbortSignal,
  ): Promise<BackgroundExecution> {
    const end = new AbortController();
    caller.addEventListener("abort", () => end.abort());
    if (caller.aborted) end.abort();
    const id = newBackgroundId(description);
    const launched = await launch({ id, signal: end.signal, background: this.files });
    const execution = new StartedExecution(launched, description, end, async (ended, how) => {
      await recorded;
      await this.records.write(ended, how);
      this.#forgetOldValues();
    });
    // The record is written before the caller gets the answer, so that the execution survives an agent that is killed.
    const recorded = this.records.write(execution);
    this.#executions.set(execution.id, execution);
    this.#forgetOldest();
    await recorded;
    return execution;
  }

  /** All executions, oldest first. */
  list(): BackgroundExecution[] {
    return [...this.#executions.values()];
  }

  /** The execution with that id. Throws a 404 problem if there is none. */
  get(id: string): BackgroundExecution {
    const execution = this.#executions.get(id);
    if (execution) return execution;
    throw executionNotFound(id);
  }

  #forgetOldValues(): void {
    const displaying = this.list().filter(({ values }) => values?.displays !== undefined);
    for (const execution of displaying.slice(0, -keptValues))
      if (execution instanceof StartedExecution) execution.values = undefined;
  }

  #forgetOldest(): void {
    for (const execution of this.list()) {
      if (this.#executions.size <= mostKept) return;
      if (!execution.endedAt) continue;
      this.#executions.delete(execution.id);
      void this.records.remove(execution);
    }
  }
}
