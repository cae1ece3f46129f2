import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import type { RequestedEgress, RequestedSecrets } from "@cloud-sandbox/server-kit/handlers";
import type { AgentCalls } from "../agents/agent-calls.js";
import { authorityOf, parseDestination } from "../egress/destination.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { egressRules } from "../egress/egress-policy.js";
import { checkedSecret } from "../egress/secrets/checked-secrets.js";
import type { Secret } from "../egress/secrets/secret.js";
import type { StoredSecrets } from "../egress/secrets/stored-secrets.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import type { SandboxLifecycle } from "./sandbox-lifecycle.js";
import { reachableMachine, type SandboxRecord } from "./sandbox-record.js";
import type { SandboxRegistry } from "./sandbox-registry.js";

const mostSecrets = 64;

interface SandboxAccessParts {
  readonly registry: SandboxRegistry;
  readonly lifecycle: SandboxLifecycle;
  readonly agents: AgentCalls;
  readonly egress: EgressGateway;
  readonly storedSecrets: StoredSecrets;
}

/** Changes what sandboxes may reach, and with which credentials, while they exist. */
export class SandboxAccess {
  constructor(private readonly parts: SandboxAccessParts) {}

  /** Replaces both lists of destinations at once. Open connections that are refused now are closed. */
  async setEgress(
    sandbox: SandboxRecord,
    { allow, deny, ask }: ControlPlaneSchemas["EgressLists"],
  ): Promise<void> {
    const { internetAccess } = sandbox.egress;
    // With a list, a sandbox without internet access is refused.
    egressRules({ internetAccess, allow, deny: deny ?? [], ask });
    await this.parts.lifecycle.between(sandbox, () =>
      this.#setRules(sandbox, { internetAccess, allow, deny, ask }),
    );
  }

  /** Answers the programs that wait for a destination, and puts it on a list if the answer is to hold. */
  async decideEgress(
    sandbox: SandboxRecord,
    { host, port, decision, always = false }: ControlPlaneSchemas["EgressDecision"],
  ): Promise<void> {
    const destination = parseDestination(host, port);
    const isAllowed = decision === "allow";
    if (!destination || !this.parts.egress.decide(sandbox.id, destination, isAllowed))
      throw nobodyWaits(host, port);
    if (!always) return;
    const entry = authorityOf(destination);
    await this.parts.lifecycle.between(sandbox, () => {
      const { allow, deny, ...rest } = sandbox.egress;
      const added = isAllowed
        ? { allow: [...(allow ?? []), entry], deny }
        : { allow, deny: [...(deny ?? []), entry] };
      return this.#setRules(sandbox, { ...rest, ...added });
    });
  }

  async #setRules(sandbox: SandboxRecord, egress: RequestedEgress): Promise<void> {
    await this.parts.registry.change(sandbox, { egress });
    this.parts.egress.setRules(sandbox.id, egressRules(egress));
  }

  /** Revokes all links to ports and files of a sandbox. */
  async revokeLinks(sandbox: SandboxRecord): Promise<void> {
    const { registry, lifecycle } = this.parts;
    await lifecycle.between(sandbox, () => registry.change(sandbox, { linksRevokedAt: new Date() }));
  }

  /** Gives a sandbox a secret, or one that it has another value or other rules. */
  async setSecret(
    sandbox: SandboxRecord,
    name: string,
    spec: ControlPlaneSchemas["Secret"],
  ): Promise<Secret> {
    const { lifecycle, egress, agents, storedSecrets } = this.parts;
    const find = (from: string) => storedSecrets.get(from, sandbox.keyId);
    const policy = egress.policy(egressRules(sandbox.egress));
    return lifecycle.between(sandbox, async () => {
      const secrets = requirePrepared(sandbox, egress.authorityId);
      const known = secrets.find((other) => other.name === name);
      if (!known && secrets.length >= mostSecrets)
        throw new Problem(400, "RESOURCE_LIMIT_ERROR", `A sandbox has ${mostSecrets} secrets at most.`);
      const secret = checkedSecret(name, spec, { policy, find }, secrets);
      const added = placeholders([secret]);
      const isSame = known?.env === secret.env && known.placeholder === secret.placeholder;
      if (!isSame) await agents.mergeEnvironment(reachableMachine(sandbox), added);
      await this.#change(sandbox, [...secrets.filter((other) => other !== known), secret]);
      return secret;
    });
  }

  /** Takes a secret from a sandbox. Does nothing if it has no such one. */
  async deleteSecret(sandbox: SandboxRecord, name: string): Promise<void> {
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

const nobodyWaits = (host: string, port: number): Problem =>
  new Problem(409, "CONFLICT", `No program of the sandbox waits for ${host}:${port} any more.`, {
    hint: "A program waits 60 s for a decision. Set the egress of the sandbox to decide before it asks.",
  });

/** The environment variables of secrets, with placeholders. */
export const placeholders = (secrets: readonly Secret[]): Record<string, string> =>
  Object.fromEntries(secrets.flatMap(({ name, env, placeholder }) => (env ? [[name, placeholder]] : [])));

/** Gives a machine variables, in place of those of these names: they have placeholders of secrets that another machine had. */
export async function replaceVariables(
  agents: AgentCalls,
  machine: Machine,
  names: readonly string[],
  wanted: Readonly<Record<string, string>>,
): Promise<void> {
  // Code may have taken it already.
  for (const name of names)
    if (!Object.hasOwn(wanted, name)) await agents.removeVariable(machine, name).catch(() => undefined);
  await agents.mergeEnvironment(machine, wanted);
}

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

function requirePrepared({ id, secrets, authority }: SandboxRecord, current: string): readonly Secret[] {
  if (secrets && authority !== current)
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
