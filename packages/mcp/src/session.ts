/** One run of this server: the backend, opened once, and the calls that are under way. */
import { type Backend, type Environment, openBackend } from "./backend.js";
import type { Tool, ToolContext } from "./tool.js";

type Caller = Pick<ToolContext, "signal" | "report">;

export class Session {
  readonly #environment: Environment;
  readonly #log: (line: string) => void;
  readonly #underWay = new Set<Promise<unknown>>();
  #backend: Promise<Backend> | undefined;
  /** What was logged last: each call tries to open the backend anew, and mostly fails for the same reason. */
  #logged = "";

  constructor(environment: Environment, log: (line: string) => void) {
    this.#environment = environment;
    this.#log = log;
  }

  /** Opens the backend before the first call needs it. */
  open(): void {
    // The call that needs it reports what is wrong, and tries again.
    this.#open().catch(() => undefined);
  }

  /** Runs a tool, whose failure is thrown as it is. */
  async run(tool: Tool, given: unknown, caller: Caller): Promise<Record<string, unknown>> {
    const work = this.#run(tool, given, caller);
    this.#underWay.add(work);
    return work.finally(() => this.#underWay.delete(work));
  }

  /** Waits for the calls under way, whose callers have left, and closes the backend. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    const backend = await this.#backend?.catch(() => undefined);
    await backend?.close();
  }

  async #run(tool: Tool, given: unknown, caller: Caller): Promise<Record<string, unknown>> {
    const { client, sandboxes } = await this.#open();
    return tool.run(given, { client, sandboxes, ...caller });
  }

  #open(): Promise<Backend> {
    this.#backend ??= openBackend(this.#environment).then(
      (backend) => {
        this.#logOnce(backend.description);
        return backend;
      },
      (error: unknown) => {
        this.#backend = undefined;
        this.#logOnce(`no backend: ${error instanceof Error ? error.message : "it could not be opened"}`);
        throw error;
      },
    );
    return this.#backend;
  }

  #logOnce(line: string): void {
    if (line !== this.#logged) this.#log(line);
    this.#logged = line;
  }
}
