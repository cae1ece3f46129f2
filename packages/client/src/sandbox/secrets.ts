import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type CallOptions, callInit, checkKnown, omitUndefined, variableName } from "../config/options.js";
import { InvalidResponseError, invalidArgument } from "../errors/errors.js";
import { type ControlPlaneClient, readBody, successOf } from "../transport/contract-clients.js";

/**
 * A credential that code in the sandbox uses without having it. Inside there is a placeholder. The server puts the value in its place in
 * the headers `authorization` (also within Basic) and `x-api-key` of requests over TLS to the hosts.
 */
export interface Secret {
  /** The credential: 8 to 8,192 printable ASCII characters. It is sent to the server, and read back by nobody. */
  value: string;
  /** Where it may be sent: `api.github.com`, `gitlab.example.com:8443`, or `*.example.com`. Default port: 443. At most 32. */
  hosts: readonly string[];
  /** Headers to set in each request to the hosts, with `{value}` in place of the value: `{ "private-token": "{value}" }`. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Sets `authorization` for Basic in each request, with this user and the value as password. */
  basic?: string | undefined;
  /** Methods of the requests that may have it, as `GET`. Default: all. */
  methods?: readonly string[] | undefined;
  /** Paths of the requests that may have it: `/v1` is that path, `/v1/*` all that begins with `/v1/`. Default: all. */
  paths?: readonly string[] | undefined;
  /** Whether programs find the placeholder in an environment variable of the secret's name. Default: true. */
  env?: boolean | undefined;
  /** The placeholder, for programs that check a credential's form. At least 16 characters. Default: a random one. */
  placeholder?: string | undefined;
}

/** The secrets of a sandbox, by name, which is that of the environment variable with the placeholder. At most 64. */
export type Secrets = Readonly<Record<string, Secret>>;

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
  placeholder: string;
  /** `lost`: its value went with the server that had it. Set it again. */
  state: "ready" | "lost";
}

/** The secrets as a request has them. Errors never name a value. */
export function secretsOnWire(secrets: Secrets): ControlPlaneSchemas["Secrets"] {
  if (typeof secrets !== "object" || secrets === null)
    throw invalidArgument("secrets must be an object with a secret for each name.");
  return Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => [name, secretOnWire(`secrets.${name}`, secret)]),
  );
}

function secretOnWire(what: string, secret: Secret): ControlPlaneSchemas["Secret"] {
  if (typeof secret !== "object" || secret === null)
    throw invalidArgument(`${what} must be an object with a value and hosts.`);
  checkKnown(what, secret, {
    value: true,
    hosts: true,
    headers: true,
    basic: true,
    methods: true,
    paths: true,
    env: true,
    placeholder: true,
  });
  const { value, hosts, env = true, ...rules } = secret;
  if (typeof value !== "string" || !Array.isArray(hosts))
    throw invalidArgument(`${what} must have a value, which is text, and hosts, which is a list.`);
  return { value, hosts: [...hosts], env, ...(omitUndefined(rules) as object) };
}

/** Throws if the answer to a create lacks a secret that was asked for: the placeholder of a server without secrets goes nowhere. */
export function checkSecrets(
  asked: Secrets | undefined,
  got: readonly { readonly name: string }[] | undefined,
): void {
  if (asked === undefined) return;
  const names = new Set(got?.map(({ name }) => name));
  if (got !== undefined && Object.keys(asked).every((name) => names.has(name))) return;
  throw new InvalidResponseError({
    summary: "The server does not confirm the sandbox's secrets, so it may ignore them.",
    hint: "Use another backend, or leave secrets out. A sandbox that was there already keeps its secrets: set them with sandbox.secrets.",
    code: "SECRETS_NOT_MET",
  });
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
  async set(name: string, secret: Secret, options?: CallOptions): Promise<SecretRecord> {
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
  const { name, hosts, headers = [], methods, paths, placeholder, state } = wire;
  return { name, hosts, headers, methods, paths, placeholder, state };
}
