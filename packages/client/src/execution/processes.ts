import type { AgentAccess } from "../agent/agent-access.js";
import type { CallOptions } from "../config/call-options.js";
import { identifier } from "../config/identifier.js";
import { executionOf } from "./deferred-executions.js";
import type { Execution } from "./execution.js";
import type { ExecutionState } from "./execution-state.js";

/** Programs that run in the background of a sandbox, and the last that ended. */
export class Processes {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): Processes {
    return new Processes(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /** All of them, with how they fare (GET /execute/processes). */
  async list(options?: CallOptions): Promise<ExecutionState[]> {
    const { listExecutions } = await import("./execution.js");
    return listExecutions(this.#access, options);
  }

  /** The handle of one. Asks nothing: whether it exists, its methods tell. */
  get(id: string): Execution {
    return executionOf(this.#access, identifier("execution", id));
  }

  /** Ends one with every process it started (DELETE /execute/kill). One that has ended already is no error. */
  async kill(id: string, options?: CallOptions): Promise<void> {
    const known = identifier("execution", id);
    const { killExecution } = await import("./execution.js");
    await killExecution(this.#access, known, options);
  }
}
