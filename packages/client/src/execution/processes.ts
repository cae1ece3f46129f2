import type { AgentAccess } from "../agent/agent-access.js";
import { type CallOptions, identifier } from "../config/options.js";
import { Execution, killExecution, listExecutions } from "./execution.js";
import type { ExecutionState } from "./results/execution-state.js";

/** Programs in the background of a sandbox: those running and the last that ended. */
export class Processes {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): Processes {
    return new Processes(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /** Lists the programs and their states (GET /execute/processes). */
  async list(options?: CallOptions): Promise<ExecutionState[]> {
    return listExecutions(this.#access, options);
  }

  /** The handle of the program with this id. Makes no request: if there is no such program, the handle's methods fail. */
  get(id: string): Execution {
    return Execution.of(this.#access, identifier("execution", id));
  }

  /** Kills a program and every process it started (DELETE /execute/kill). Succeeds if the program has already ended. */
  async kill(id: string, options?: CallOptions): Promise<void> {
    await killExecution(this.#access, identifier("execution", id), options);
  }
}
