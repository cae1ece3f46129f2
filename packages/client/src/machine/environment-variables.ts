import type { AgentAccess } from "../agent/agent-access.js";
import { type CallOptions, callInit } from "../config/call-options.js";
import { checkedVariables, variableName } from "../config/variables.js";
import { bodyOf, successOf } from "../transport/contract-clients.js";

/**
 * The environment variables that every execution in a sandbox sees, at most 1,000 of 32 KiB each. The server masks values
 * whose names look secret; nothing here reads a value in order to write it back, so that no mask takes its place.
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

  /** All of them (GET /env). The server shows a mask in place of values whose names look secret. */
  async get(options?: CallOptions): Promise<Record<string, string>> {
    const { env_vars } = await bodyOf(this.#access.client.GET("/env", callInit(options)), "env_vars");
    return env_vars;
  }

  /**
   * What a program sees: these, and what every program gets beside them where the server tells it, such as PATH, HOME and LANG
   * (GET /env). The server shows a mask in place of values whose names look secret.
   */
  async effective(options?: CallOptions): Promise<Record<string, string>> {
    const pending = this.#access.client.GET("/env", callInit(options));
    const { env_vars, inherited } = await bodyOf(pending, "env_vars");
    return { ...inherited, ...env_vars };
  }

  /** Their names, sorted (GET /env). */
  async names(options?: CallOptions): Promise<string[]> {
    return Object.keys(await this.get(options)).sort();
  }

  /** Adds or changes one and keeps the others (PATCH /env). A mask is refused: it is not the value. */
  async set(name: string, value: string, options?: CallOptions): Promise<void> {
    await this.merge({ [name]: value }, options);
  }

  /** Adds or changes variables and keeps the others (PATCH /env). Masks are refused: they are not the values. */
  async merge(variables: Readonly<Record<string, string>>, options?: CallOptions): Promise<void> {
    const body = { env_vars: checkedVariables(variables), merge: true };
    await successOf(this.#access.client.PATCH("/env", { body, ...callInit(options) }));
  }

  /** Replaces all of them (PUT /env): those not named are gone. Masks are refused: they are not the values. */
  async replace(variables: Readonly<Record<string, string>>, options?: CallOptions): Promise<void> {
    const body = { env_vars: checkedVariables(variables) };
    await successOf(this.#access.client.PUT("/env", { body, ...callInit(options) }));
  }

  /** Removes one (DELETE /env/{key}) without a look at the others; one that is not set is no error. */
  async unset(name: string, options?: CallOptions): Promise<void> {
    const params = { path: { key: variableName(name) } };
    await successOf(this.#access.client.DELETE("/env/{key}", { params, ...callInit(options) }));
  }

  /** Removes all of them (DELETE /env). */
  async clear(options?: CallOptions): Promise<void> {
    await successOf(this.#access.client.DELETE("/env", callInit(options)));
  }
}
