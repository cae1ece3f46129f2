import { maskedValue } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "./agent-access.js";
import { type CallOptions, callInit } from "./call-options.js";
import { bodyOf, successOf } from "./contract-clients.js";
import { invalidArgument } from "./errors.js";

/** The environment variables that every execution in a sandbox sees. */
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

  /** Replaces all of them (PUT /env): those not named are gone. Masks are refused: they are not the values. */
  async set(variables: Readonly<Record<string, string>>, options?: CallOptions): Promise<void> {
    const body = { env_vars: withoutMasks(variables) };
    await successOf(this.#access.client.PUT("/env", { body, ...callInit(options) }));
  }

  /** Adds or changes variables and keeps the others (PATCH /env). Masks are refused: they are not the values. */
  async merge(variables: Readonly<Record<string, string>>, options?: CallOptions): Promise<void> {
    const body = { env_vars: withoutMasks(variables), merge: true };
    await successOf(this.#access.client.PATCH("/env", { body, ...callInit(options) }));
  }

  /** Removes one (DELETE /env/{key}); one that is not set is no error. */
  async delete(name: string, options?: CallOptions): Promise<void> {
    if (!/^[A-Za-z_]\w*$/.test(name))
      throw invalidArgument(`"${name}" is no name of an environment variable.`);
    const params = { path: { key: name } };
    await successOf(this.#access.client.DELETE("/env/{key}", { params, ...callInit(options) }));
  }

  /** Removes all of them (DELETE /env). */
  async clear(options?: CallOptions): Promise<void> {
    await successOf(this.#access.client.DELETE("/env", callInit(options)));
  }
}

function withoutMasks(variables: Readonly<Record<string, string>>): Record<string, string> {
  for (const [name, value] of Object.entries(variables)) {
    if (value !== maskedValue) continue;
    throw invalidArgument(
      `The value of ${name} is the mask that the server shows in place of a secret.`,
      "Leave the variable out of merge(), which keeps its value, or give the value itself.",
    );
  }
  return { ...variables };
}
