import { type CreateRequest, requestedSecrets } from "@cloud-sandbox/server-kit/handlers";
import type { AgentCalls } from "../agents/agent-calls.js";
import { grantLimits, type LocalTemplate } from "../catalogue/template-catalogue.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { egressRules } from "../egress/egress-policy.js";
import { checkedSecrets } from "../egress/secrets/checked-secrets.js";
import type { Secret } from "../egress/secrets/secret.js";
import type { StoredSecrets } from "../egress/secrets/stored-secrets.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import type { SavedFiles } from "../saved/sandbox-files.js";
import type { LayerStore } from "../store/layer-store.js";
import type { KeyCooldowns } from "../tokens/key-ring.js";
import type { Volumes } from "../volumes/volumes.js";
import { type MachineSupply, newSandboxId } from "./machine-supply.js";
import { placeholders, replaceVariables, requireOwnNames } from "./sandbox-access.js";
import { requireSleepPossible, type SandboxRecord } from "./sandbox-record.js";
import type { SandboxRegistry } from "./sandbox-registry.js";
import type { SandboxSlots } from "./sandbox-slots.js";

/** A create request with the API key that sent it. */
export interface OwnedCreateRequest extends CreateRequest {
  /** Undefined for the server's own key. */
  readonly keyId: string | undefined;
}

/** What a new sandbox begins with. */
export interface Origin {
  readonly template: LocalTemplate;
  /** The files of another sandbox. */
  readonly saved?: SavedFiles;
  /** Keeps these until the returned function is called. */
  readonly hold?: () => () => void;
  /** The variables among these that have placeholders of the other sandbox's secrets. */
  readonly secretNames?: readonly string[];
  /** Its secrets, in place of those of the request and the template. */
  readonly secrets?: readonly Secret[] | undefined;
}

export interface MakerParts {
  readonly registry: SandboxRegistry;
  readonly machines: MachineSupply;
  readonly agents: AgentCalls;
  readonly layers: LayerStore;
  readonly egress: EgressGateway;
  readonly storedSecrets: StoredSecrets;
  readonly volumes: Volumes;
  /** Whether machines run on other hosts. */
  readonly isElsewhere: boolean;
  readonly slots: SandboxSlots;
  readonly cooldowns: KeyCooldowns;
  /** Whether files of stopped sandboxes are kept. If not, sandboxes cannot be stopped. */
  readonly keepsFiles: boolean;
  /** Why machines cannot be paused. Undefined if they can. */
  readonly withoutPause: string | undefined;
  /** Called with each sandbox that is made. */
  readonly onMade: (sandbox: SandboxRecord, machine: Machine) => void;
}

/** Makes sandboxes: their machines, and what belongs to these. */
export class SandboxMaker {
  readonly #making = new Set<Promise<SandboxRecord>>();

  constructor(private readonly parts: MakerParts) {}

  /** Holds a slot for the sandbox when it returns; rejects if there is none. */
  make(origin: Origin, request: OwnedCreateRequest): Promise<SandboxRecord> {
    const making = this.#make(origin, request);
    this.#making.add(making);
    return making.finally(() => this.#making.delete(making));
  }

  /** Waits until all sandboxes that are being made are there, or have failed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#making);
  }

  async #make(origin: Origin, request: OwnedCreateRequest): Promise<SandboxRecord> {
    const { agents, slots, cooldowns, egress, layers, volumes, isElsewhere, registry } = this.parts;
    const limited = grantLimits(origin.template, request.limits, isElsewhere);
    const mounted = volumes.requested(request.mounts, request.keyId);
    const rules = egressRules(request.egress);
    const secrets = origin.secrets ?? this.#secrets(origin, request);
    requireSleepPossible(request.sleep, this.parts);
    cooldowns.requireOver(request.keyId);
    slots.requireSlot(request.keyId);
    // Hold a slot until the registry counts the sandbox.
    const leave = slots.hold(request.keyId);
    const releaseVolumes = volumes.hold(mounted);
    const releaseFiles = origin.hold?.();
    // The template may be deleted or replaced before its machine is started.
    const releaseLayers = layers.hold(origin.template.built?.layers ?? []);
    try {
      await registry.requireWritable();
      const machine = await this.#machine(origin, limited, { keyId: request.keyId, mounted, secrets });
      try {
        egress.setRules(machine.id, rules);
        egress.setSecrets(machine.id, secrets ?? []);
        await volumes.copies.begin(machine.id, mounted);
        const variables = { ...request.environment, ...placeholders(secrets ?? []) };
        await replaceVariables(agents, machine, origin.secretNames ?? [], variables);
        return await this.#register(machine, limited, request, { mounted, secrets });
      } catch (error) {
        await machine.destroy();
        throw error;
      }
    } finally {
      releaseLayers();
      releaseFiles?.();
      releaseVolumes();
      leave();
    }
  }

  #secrets({ template }: Origin, request: OwnedCreateRequest): readonly Secret[] | undefined {
    const { egress, storedSecrets } = this.parts;
    const wanted = requestedSecrets(template, request);
    const find = (from: string) => storedSecrets.get(from, request.keyId);
    const secrets =
      wanted && checkedSecrets(wanted, { policy: egress.policy(egressRules(request.egress)), find });
    requireOwnNames(wanted, request.environment);
    return secrets;
  }

  #machine(
    { template, saved }: Origin,
    limited: LocalTemplate,
    sandbox: Pick<SandboxRecord, "keyId" | "mounted" | "secrets">,
  ): Promise<Machine> {
    const { machines } = this.parts;
    if (saved) return machines.boot(limited, newSandboxId(), saved, sandbox);
    return machines.claim(template, limited, sandbox);
  }

  async #register(
    machine: Machine,
    template: LocalTemplate,
    request: OwnedCreateRequest,
    { mounted, secrets }: Pick<SandboxRecord, "mounted" | "secrets">,
  ): Promise<SandboxRecord> {
    const { timeoutSeconds, name, metadata, idempotency, keyId, sleep } = request;
    const { egress } = this.parts;
    const createdAt = new Date();
    const sandbox: SandboxRecord = {
      id: machine.id,
      template,
      machine,
      isolation: machine.isolation,
      createdAt,
      name,
      metadata,
      egress: request.egress,
      mounted,
      secrets,
      ...(secrets && { authority: egress.authorityId }),
      idempotency,
      keyId,
      status: "running",
      isStopping: false,
      timeoutSeconds,
      expiresAt: new Date(createdAt.getTime() + timeoutSeconds * 1000),
      failureReason: undefined,
      sleep,
      stopReason: undefined,
    };
    await this.parts.registry.add(sandbox);
    this.parts.onMade(sandbox, machine);
    return sandbox;
  }
}
