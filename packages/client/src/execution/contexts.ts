import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import { type CallOptions, callInit, callOptionNames, checkKnown, requireText } from "../config/options.js";
import { date } from "../transport/answer-fields.js";
import { readBody, successOf } from "../transport/contract-clients.js";
import { execute } from "./execute.js";
import { executeRequest } from "./execute-options.js";

/** Options that tell contexts of the same name apart. */
export interface ContextOptions extends CallOptions {
  /** The language of the context. Default: `python` for `create`; all languages for `restart` and `delete`. */
  language?: string | undefined;
}

/** A context: an interpreter that keeps variables between executions. */
export interface Context {
  id: string | undefined;
  /** The name that executions give as `context`. */
  name: string | undefined;
  language: string | undefined;
  /** Whether an execution runs in it. */
  isBusy: boolean;
  /** Executions that run or wait in it. */
  pending: number | undefined;
  lastActivity: Date | undefined;
}

/** The contexts of a sandbox. Executions begin one by naming it, and have the one named `default` otherwise. */
export class Contexts {
  readonly #access: AgentAccess;
  readonly #timeoutSeconds: number;

  /** @internal */
  static of(access: AgentAccess, timeoutSeconds: number): Contexts {
    return new Contexts(access, timeoutSeconds);
  }

  private constructor(access: AgentAccess, timeoutSeconds: number) {
    this.#access = access;
    this.#timeoutSeconds = timeoutSeconds;
  }

  /** The contexts that have an interpreter (GET /jupyter/sessions). */
  async list(options?: CallOptions): Promise<Context[]> {
    const pending = this.#access.client.GET("/jupyter/sessions", callInit(options));
    return readBody(pending, ({ sessions }) => (sessions ?? []).map(contextOf));
  }

  /** Starts the interpreter of a context ahead of its first execution, by running nothing in it. */
  async create(name: string, options: ContextOptions = {}): Promise<void> {
    const { language, ...call } = checked(name, "contexts.create", options);
    const wanted = { ...call, context: name, ...(language !== undefined && { language }) };
    await execute(this.#access, executeRequest("", wanted, this.#timeoutSeconds), wanted);
  }

  /**
   * Forgets the variables of a context, and ends the execution that runs in it (POST /jupyter/sessions/{kernel_id}/restart). The
   * first error about an unknown name says so then. Does nothing if the context has no interpreter.
   */
  async restart(name: string, options: ContextOptions = {}): Promise<void> {
    for (const init of await this.#named(name, "contexts.restart", options))
      await successOf(this.#access.client.POST("/jupyter/sessions/{kernel_id}/restart", init));
  }

  /**
   * Ends the interpreter of a context, and the execution that runs in it (DELETE /jupyter/sessions/{kernel_id}). Does nothing if the
   * context has none.
   */
  async delete(name: string, options: ContextOptions = {}): Promise<void> {
    for (const init of await this.#named(name, "contexts.delete", options))
      await successOf(this.#access.client.DELETE("/jupyter/sessions/{kernel_id}", init));
  }

  /** What calls for the contexts of this name need. */
  async #named(name: string, what: string, options: ContextOptions) {
    const { language, ...call } = checked(name, what, options);
    const all = await this.list(call);
    return all
      .filter((context) => context.name === name && (language === undefined || context.language === language))
      .map(({ id = "" }) => ({ params: { path: { kernel_id: id } }, ...callInit(call) }));
  }
}

function checked(name: string, what: string, options: ContextOptions): ContextOptions {
  requireText("name", name);
  checkKnown(what, options, { ...callOptionNames, language: true });
  return options;
}

const contextOf = (wire: AgentSchemas["JupyterSession"]): Context => ({
  id: wire.kernel_id,
  name: wire.context,
  language: wire.language,
  isBusy: wire.execution_state === "busy",
  pending: wire.connections,
  lastActivity: date(wire.last_activity),
});
