import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { ControlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import {
  type RequestedSecrets,
  type SecretFacts,
  type StoredSecretFacts,
  secretOnWire,
  storedSecretOnWire,
} from "@cloud-sandbox/server-kit/handlers";
import { type Handlers, Problem } from "@cloud-sandbox/server-kit/portable";
import type { Machine } from "../agent/machine.js";
import type { MemoryExchange } from "../memory/memory-exchange.js";
import type { TestingClock } from "../memory/testing-clock.js";

type Requested = ControlPlaneSchemas["Secret"];

interface SandboxWithSecrets {
  secrets: readonly SecretFacts[] | undefined;
  readonly machine: Machine | undefined;
}

/** The secrets of a service: placeholders without a value, because nothing leaves it. */
export class MemorySecrets {
  readonly #stored = new Map<string, StoredSecretFacts>();

  constructor(private readonly clock: TestingClock) {}

  /** The secrets of a request to create a sandbox. */
  requested(secrets: RequestedSecrets): SecretFacts[] | undefined {
    return secrets && Object.entries(secrets).map(([name, spec]) => this.#secret(name, spec));
  }

  handlers(find: (id: string) => SandboxWithSecrets) {
    return {
      listSandboxSecrets: ({ params, requestId }) => ({
        object: "list",
        data: (find(params.id).secrets ?? []).map(secretOnWire),
        url: `/v1/sandboxes/${params.id}/secrets`,
        request_id: requestId,
      }),

      setSandboxSecret: ({ params: { id, name }, body, requestId }) => {
        const sandbox = find(id);
        const { secrets, machine } = sandbox;
        if (!secrets)
          throw new Problem(409, "CONFLICT", `Sandbox ${id} was created without secrets.`, {
            hint: "Create a sandbox with secrets: {} to give it some later.",
          });
        const { placeholder } = secrets.find((known) => known.name === name) ?? {};
        const set = { ...this.#secret(name, body), ...(placeholder !== undefined && { placeholder }) };
        sandbox.secrets = [...secrets.filter((known) => known.name !== name), set];
        machine?.variables.merge(placeholders([set]));
        return { ...secretOnWire(set), request_id: requestId };
      },

      deleteSandboxSecret: ({ params: { id, name }, requestId }) => {
        const sandbox = find(id);
        const { secrets, machine } = sandbox;
        if (secrets?.some((known) => known.name === name)) {
          sandbox.secrets = secrets.filter((known) => known.name !== name);
          machine?.variables.delete(name);
        }
        return { name, object: "secret", deleted: true, request_id: requestId };
      },

      listSecrets: ({ requestId }) => ({
        object: "list",
        data: [...this.#stored.values()].map(storedSecretOnWire),
        url: "/v1/secrets",
        request_id: requestId,
      }),

      setSecret: ({ params: { name }, body, requestId }) => {
        const updatedAt = this.clock.now();
        const { createdAt = updatedAt } = this.#stored.get(name) ?? {};
        const stored = { ...this.#secret(name, body), createdAt, updatedAt };
        this.#stored.set(name, stored);
        return { ...storedSecretOnWire(stored), request_id: requestId };
      },

      deleteSecret: ({ params: { name }, requestId }) => {
        this.#stored.delete(name);
        return { name, object: "secret", deleted: true, request_id: requestId };
      },
    } satisfies Handlers<ControlPlaneContract, unknown, MemoryExchange>;
  }

  #secret(name: string, { value, from, ...spec }: Requested): SecretFacts {
    const rules = from === undefined ? spec : { ...this.#stored.get(from), ...spec };
    const { hosts, headers, basic, methods, paths, placeholder = newPlaceholder() } = rules as Requested;
    if (from !== undefined && !this.#stored.has(from))
      throw new Problem(404, "SECRET_NOT_FOUND", `There is no stored secret ${JSON.stringify(from)}.`);
    if (hosts === undefined || (from === undefined && value === undefined))
      throw invalid(`secrets.${name} needs a value and hosts, or from.`);
    const wrong = hosts.find((host) => !hostName.test(host));
    if (wrong !== undefined) throw invalid(`secrets.${name}.hosts has ${wrong}, which is not a name.`);
    const { env = true } = spec;
    return { name, hosts, headers, basic, methods, paths, env, from, placeholder, isLost: false };
  }
}

/** The environment variables of secrets, with placeholders. */
export const placeholders = (secrets: readonly SecretFacts[] = []): Record<string, string> =>
  Object.fromEntries(secrets.flatMap(({ name, env, placeholder }) => (env ? [[name, placeholder]] : [])));

/** A name of two labels at least, or all names below one, with or without a port. */
const hostName = /^(?:\*\.)?(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*(?::\d+)?$/i;

function newPlaceholder(): string {
  const random = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return `csb_secret_${Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

const invalid = (message: string): Problem => new Problem(400, "INVALID_REQUEST", message);
