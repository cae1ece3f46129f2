import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type CallOptions, callInit, identifier } from "../config/options.js";
import { carriedOnWire, type Secret } from "../config/secrets.js";
import { invalidArgument } from "../errors/errors.js";
import { date } from "../transport/answer-fields.js";
import { type ControlPlaneClient, readBody, successOf } from "../transport/contract-clients.js";

/** A secret that the server stores, without its value. */
export interface StoredSecretRecord {
  name: string;
  hosts: string[];
  /** Names of the headers that it sets. */
  headers: string[];
  /** Undefined if all may have it. */
  methods: string[] | undefined;
  /** Undefined if all may have it. */
  paths: string[] | undefined;
  /** `lost`: its value went with a server that had it in memory alone. Set it again. */
  state: "ready" | "lost";
  createdAt: Date | undefined;
  /** When its value was last set. */
  updatedAt: Date | undefined;
}

/**
 * Secrets that the server stores for this API key. Sandboxes name them instead of carrying them: `secrets: { TOKEN: { from: "github" } }`.
 * A server without a key that seals values has them in memory alone. One without secrets throws a `NotFoundError`.
 */
export class StoredSecrets {
  readonly #controlPlane: ControlPlaneClient;

  /** @internal */
  static of(controlPlane: ControlPlaneClient): StoredSecrets {
    return new StoredSecrets(controlPlane);
  }

  private constructor(controlPlane: ControlPlaneClient) {
    this.#controlPlane = controlPlane;
  }

  /** Lists the secrets by name, without their values (GET /v1/secrets). */
  async list(options?: CallOptions): Promise<StoredSecretRecord[]> {
    const pending = this.#controlPlane.GET("/v1/secrets", callInit(options));
    return readBody(pending, ({ data }) => data.map(storedSecretRecord), "data");
  }

  /**
   * Stores a secret, or gives one that is stored another value or other rules (PUT /v1/secrets/{name}). Sandboxes that name it have the
   * new value from the next request on, and keep the rules. A name has at most 128 letters, digits, `.`, `_` and `-`. At most 100.
   *
   * ```ts
   * await client.secrets.set("github", { value: token, hosts: ["api.github.com"] });
   * await using sandbox = await client.sandboxes.create({ secrets: { GITHUB_TOKEN: { from: "github" } } });
   * ```
   */
  async set(name: string, secret: Omit<Secret, "env">, options?: CallOptions): Promise<StoredSecretRecord> {
    if (typeof secret !== "object" || secret === null)
      throw invalidArgument("The secret must be an object with a value and hosts.");
    const init = { ...pathOf(name), body: carriedOnWire(`the secret ${name}`, secret), ...callInit(options) };
    return readBody(this.#controlPlane.PUT("/v1/secrets/{name}", init), storedSecretRecord, "name");
  }

  /**
   * Deletes a secret (DELETE /v1/secrets/{name}). Sandboxes that name it cannot use it from the next request on. Succeeds if there is
   * no such secret.
   */
  async delete(name: string, options?: CallOptions): Promise<void> {
    await successOf(
      this.#controlPlane.DELETE("/v1/secrets/{name}", { ...pathOf(name), ...callInit(options) }),
    );
  }
}

const pathOf = (name: string) => ({ params: { path: { name: identifier("secret", name) } } });

function storedSecretRecord(wire: ControlPlaneSchemas["StoredSecret"]): StoredSecretRecord {
  const { name, hosts, headers = [], methods, paths, state } = wire;
  const [createdAt, updatedAt] = [date(wire.created_at), date(wire.updated_at)];
  return { name, hosts, headers, methods, paths, state, createdAt, updatedAt };
}
