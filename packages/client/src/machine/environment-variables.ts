import type { AgentAccess } from "../agent/agent-access.js";
import { type CallOptions, callInit, checkedVariables, variableName } from "../config/options.js";
import { bodyOf, successOf } from "../transport/contract-clients.js";

/**
 * The environment variables of a sandbox, seen by every execution: at most 1,000, of at most 32 KiB each. The server
 * masks values whose names look secret. No method reads values to write them back, so a mask never overwrites a value.
 */
export class EnvironmentVariables {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): EnvironmentVariables {
    return new EnvironmentVariables(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /** All variables that were set to another value than programs inherit (GET /env). The server masks values whose names look secret. */
  async get(options?: CallOptions): Promise<Record<string, string>> {
    const { env_vars, inherited = {} } = await this.#all(options);
    const wasSet = ([name, value]: [string, string]): boolean => inherited[name] !== value;
    return Object.fromEntries(Object.entries(env_vars).filter(wasSet));
  }

  /**
   * All variables that a program sees (GET /env): those that were set and, if the server reports them, those that every
   * program inherits, such as PATH, HOME and LANG. The server masks values whose names look secret.
   */
  async effective(options?: CallOptions): Promise<Record<string, string>> {
    const { env_vars, inherited } = await this.#all(options);
    return { ...inherited, ...env_vars };
  }

  #all(options: CallOptions | undefined) {
    return bodyOf(this.#access.client.GET("/env", callInit(options)), "env_vars");
  }

  /** Names of the variables that were set, sorted (GET /env). */
  async names(options?: CallOptions): Promise<string[]> {
    return Object.keys(await this.get(options)).sort();
  }

  /** Adds or changes one variable and keeps the others (PATCH /env). Refuses a mask as value. */
  async set(name: string, value: string, options?: CallOptions): Promise<void> {
    await this.merge({ [variableName(name)]: value }, options);
  }

  /** Adds or changes variables and keeps the others (PATCH /env). Refuses masks as values. */
  async merge(variables: Readonly<Record<string, string>>, options?: CallOptions): Promise<void> {
    const body = { env_vars: checkedVariables(variables), merge: true };
    await successOf(this.#access.client.PATCH("/env", { body, ...callInit(options) }));
  }

  /** Replaces all variables: those not given are removed (PUT /env). Refuses masks as values. */
  async replace(variables: Readonly<Record<string, string>>, options?: CallOptions): Promise<void> {
    const body = { env_vars: checkedVariables(variables) };
    await successOf(this.#access.client.PUT("/env", { body, ...callInit(options) }));
  }

  /** Removes one variable and keeps the others (DELETE /env/{key}). Succeeds if the variable is not set. */
  async unset(name: string, options?: CallOptions): Promise<void> {
    const params = { path: { key: variableName(name) } };
    await successOf(this.#access.client.DELETE("/env/{key}", { params, ...callInit(options) }));
  }

  /** Removes all variables that were set (DELETE /env). */
  async clear(options?: CallOptions): Promise<void> {
    await successOf(this.#access.client.DELETE("/env", callInit(options)));
  }
}
