import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type CallOptions, callInit, variableName } from "../config/options.js";
import { type NamedSecret, type Secret, secretOnWire } from "../config/secrets.js";
import { type ControlPlaneClient, readBody, successOf } from "../transport/contract-clients.js";

/** A secret of a sandbox, without its value. */
export interface SecretRecord {
  name: string;
  hosts: string[];
  /** Names of the headers that it sets. */
  headers: string[];
  /** Undefined if all may have it. */
  methods: string[] | undefined;
  /** Undefined if all may have it. */
  paths: string[] | undefined;
  /** The name of the stored secret whose value it has. Undefined if it came with its value. */
  from: string | undefined;
  placeholder: string;
  /** `lost`: its value went with the server that had it, or its stored secret was deleted. Set it again. */
  state: "ready" | "lost";
}

/** The secrets of a sandbox that was created with `secrets`, which may be `{}`. For one that was not, `set` throws a `ConflictError`. */
export class SandboxSecrets {
  readonly #controlPlane: ControlPlaneClient;
  readonly #id: string;

  /** @internal */
  static of(controlPlane: ControlPlaneClient, id: string): SandboxSecrets {
    return new SandboxSecrets(controlPlane, id);
  }

  private constructor(controlPlane: ControlPlaneClient, id: string) {
    this.#controlPlane = controlPlane;
    this.#id = id;
  }

  /** Lists the secrets, without their values (GET /v1/sandboxes/{id}/secrets). */
  async list(options?: CallOptions): Promise<SecretRecord[]> {
    const init = { params: { path: { id: this.#id } }, ...callInit(options) };
    const pending = this.#controlPlane.GET("/v1/sandboxes/{id}/secrets", init);
    return readBody(pending, ({ data }) => data.map(secretRecord), "data");
  }

  /**
   * Gives the sandbox a secret, or one that it has another value or other rules (PUT /v1/sandboxes/{id}/secrets/{name}). The next
   * request has the new value, and open connections to the hosts are closed. Later executions find the environment variable; running
   * ones do not.
   */
  async set(name: string, secret: Secret | NamedSecret, options?: CallOptions): Promise<SecretRecord> {
    const init = { ...this.#path(name), body: secretOnWire(`secrets.${name}`, secret), ...callInit(options) };
    const pending = this.#controlPlane.PUT("/v1/sandboxes/{id}/secrets/{name}", init);
    return readBody(pending, secretRecord, "name", "placeholder");
  }

  /**
   * Takes a secret from the sandbox, and closes open connections to its hosts (DELETE /v1/sandboxes/{id}/secrets/{name}). Succeeds
   * if there is no such secret.
   */
  async delete(name: string, options?: CallOptions): Promise<void> {
    await successOf(
      this.#controlPlane.DELETE("/v1/sandboxes/{id}/secrets/{name}", {
        ...this.#path(name),
        ...callInit(options),
      }),
    );
  }

  #path(name: string) {
    return { params: { path: { id: this.#id, name: variableName(name) } } };
  }
}

function secretRecord(wire: ControlPlaneSchemas["SecretFacts"]): SecretRecord {
  const { name, hosts, headers = [], methods, paths, from, placeholder, state } = wire;
  return { name, hosts, headers, methods, paths, from, placeholder, state };
}
