import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import type { RequestedSecrets } from "@cloud-sandbox/server-kit/handlers";
import type { AgentCalls } from "../agents/agent-calls.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { egressRules } from "../egress/egress-policy.js";
import { checkedSecret } from "../egress/secrets/checked-secrets.js";
import type { Secret } from "../egress/secrets/secret.js";
import type { SandboxLifecycle } from "./sandbox-lifecycle.js";
import { reachableMachine, type SandboxRecord } from "./sandbox-record.js";
import type { SandboxRegistry } from "./sandbox-registry.js";

const mostSecrets = 64;

interface SandboxSecretsParts {
  readonly registry: SandboxRegistry;
  readonly lifecycle: SandboxLifecycle;
  readonly agents: AgentCalls;
  readonly egress: EgressGateway;
}

/** Changes the secrets of sandboxes that exist. */
export class SandboxSecrets {
  constructor(private readonly parts: SandboxSecretsParts) {}

  /** Gives a sandbox a secret, or one that it has another value or other rules. */
  async set(sandbox: SandboxRecord, name: string, spec: ControlPlaneSchemas["Secret"]): Promise<Secret> {
    const { lifecycle, egress, agents } = this.parts;
    const policy = egress.policy(egressRules(sandbox.egress));
    let secret: Secret | undefined;
    await lifecycle.between(sandbox, async () => {
      const secrets = requirePrepared(sandbox);
      const known = secrets.find((other) => other.name === name);
      if (!known && secrets.length >= mostSecrets)
        throw new Problem(400, "RESOURCE_LIMIT_ERROR", `A sandbox has ${mostSecrets} secrets at most.`);
      secret = checkedSecret(name, spec, policy, secrets);
      const added = placeholders([secret]);
      const isSame = known?.env === secret.env && known.placeholder === secret.placeholder;
      if (!isSame) await agents.mergeEnvironment(reachableMachine(sandbox), added);
      await this.#change(sandbox, [...secrets.filter((other) => other !== known), secret]);
    });
    return secret as unknown as Secret;
  }

  /** Takes a secret from a sandbox. Does nothing if it has no such one. */
  async delete(sandbox: SandboxRecord, name: string): Promise<void> {
    const { lifecycle, agents } = this.parts;
    await lifecycle.between(sandbox, async () => {
      const { secrets = [] } = sandbox;
      const secret = secrets.find((other) => other.name === name);
      if (!secret) return;
      await this.#change(
        sandbox,
        secrets.filter((other) => other !== secret),
      );
      // A paused sandbox keeps the variable, whose placeholder is refused.
      if (secret.env && sandbox.status === "running" && sandbox.machine)
        await agents.removeVariable(sandbox.machine, name);
    });
  }

  async #change(sandbox: SandboxRecord, secrets: readonly Secret[]): Promise<void> {
    await this.parts.registry.change(sandbox, { secrets });
    this.parts.egress.setSecrets(sandbox.id, secrets);
  }
}

/** The environment variables of secrets, with placeholders. */
export const placeholders = (secrets: readonly Secret[]): Record<string, string> =>
  Object.fromEntries(secrets.flatMap(({ name, env, placeholder }) => (env ? [[name, placeholder]] : [])));

/** Throws a 400 problem if a variable has the name of a secret: the program would have one or the other. */
export function requireOwnNames(
  secrets: RequestedSecrets,
  environment: Readonly<Record<string, string>>,
): void {
  const taken = Object.entries(secrets ?? {}).find(
    ([name, { env = true }]) => env && Object.hasOwn(environment, name),
  )?.[0];
  if (taken === undefined) return;
  throw new Problem(
    400,
    "INVALID_REQUEST",
    `${taken} is an environment variable of the request, and a secret.`,
    {
      hint: "Leave the variable out: the secret sets it to its placeholder.",
    },
  );
}

function requirePrepared({ id, secrets, isAdopted }: SandboxRecord): readonly Secret[] {
  if (secrets && isAdopted)
    throw new Problem(
      409,
      "CONFLICT",
      `The programs of sandbox ${id} trust the authority of the server that started it, which has ended since.`,
      { hint: "Stop the sandbox and start it again, if its server can, or create another one." },
    );
  if (secrets) return secrets;
  throw new Problem(
    409,
    "CONFLICT",
    `Sandbox ${id} was created without secrets, so its programs do not trust the proxy that puts them in.`,
    {
      hint: "Create a sandbox with secrets: {} to give it some later.",
    },
  );
}
