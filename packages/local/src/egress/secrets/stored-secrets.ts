import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import type { PendingWrites } from "../../store/pending-writes.js";
import type { Sealer } from "../../store/sealer.js";
import type { SecretRepository, StoredSecretRecord } from "../../store/secret-repository.js";
import type { EgressPolicy, EgressRules } from "../egress-policy.js";
import { carried, checkedSecret, type RuledValue } from "./checked-secrets.js";
import type { Secret } from "./secret.js";
import { SecretValue } from "./secret-value.js";

/** Most secrets that one API key stores. */
const mostOfKey = 100;

/** A stored secret, with its value. */
export interface StoredSecret extends RuledValue, Omit<StoredSecretRecord, "id" | "sealed"> {}

interface StoredSecretsParts {
  readonly store: {
    /** Undefined if stored secrets end with this process. */
    readonly secrets: SecretRepository | undefined;
    readonly writes: PendingWrites;
  };
  /** Seals values. Undefined if they are in memory alone. */
  readonly sealer: Sealer | undefined;
  readonly egress: {
    policy(rules: EgressRules): EgressPolicy;
    closeTunnels(sandboxId: string, secrets: readonly Secret[]): void;
  };
  readonly sandboxes: () => readonly {
    readonly id: string;
    readonly keyId: string | undefined;
    readonly secrets?: readonly Secret[] | undefined;
  }[];
}

/** The secrets that API keys store, for sandboxes that name them. Each key has its own names. */
export class StoredSecrets {
  readonly #secrets = new Map<string, StoredSecret>();

  constructor(private readonly parts: StoredSecretsParts) {}

  /** Loads what the last server stored. Values that it did not seal, or with another key, are lost. */
  async restore(): Promise<void> {
    const { sealer, store } = this.parts;
    for (const { sealed, id = "", ...record } of (await store.secrets?.list()) ?? []) {
      const text = sealed === undefined ? undefined : sealer?.open(sealed, about(record));
      const secret = { ...record, value: new SecretValue(text, id) };
      this.#secrets.set(entryOf(record.name, record.keyId), secret);
      if (text !== undefined && sealer?.hasOlderKeys)
        store.writes.ensure(about(record), () => store.secrets?.save(this.#sealed(secret)));
    }
  }

  /** The secrets of an API key, by name. */
  list(keyId: string | undefined): readonly StoredSecret[] {
    const own = [...this.#secrets.values()].filter((secret) => secret.keyId === keyId);
    return own.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** The secret of this name. Undefined if there is none. */
  find(name: string, keyId: string | undefined): StoredSecret | undefined {
    return this.#secrets.get(entryOf(name, keyId));
  }

  /** The secret of this name. Throws the 404 problem if there is none. */
  get(name: string, keyId: string | undefined): StoredSecret {
    const found = this.find(name, keyId);
    if (found) return found;
    throw new Problem(404, "SECRET_NOT_FOUND", `There is no stored secret ${JSON.stringify(name)}.`, {
      hint: "List the stored secrets to see those that exist, or store it.",
    });
  }

  /**
   * Stores a secret. Sandboxes that name it have the new value from the next request on, also over open connections: to close those
   * would break requests that are under way. Rejects with a 507 problem when it cannot be kept.
   */
  async set(
    name: string,
    spec: ControlPlaneSchemas["Secret"],
    keyId: string | undefined,
  ): Promise<StoredSecret> {
    const { store, egress } = this.parts;
    const find = () => {
      throw new Problem(400, "INVALID_REQUEST", "A secret that is stored has a value, and not from.");
    };
    const policy = egress.policy({ internetAccess: true });
    checkedSecret(name, { ...spec, env: false }, { policy, find }, []);
    const { rules, value: next } = carried(name, spec);
    await store.writes.save(about({ name, keyId }), async () => {
      const known = this.find(name, keyId);
      if (!known && this.list(keyId).length >= mostOfKey)
        throw new Problem(400, "RESOURCE_LIMIT_ERROR", `An API key stores ${mostOfKey} secrets at most.`);
      const value = new SecretValue(next.reveal(), known?.value.id);
      const updatedAt = new Date();
      const secret = { name, keyId, rules, value, createdAt: known?.createdAt ?? updatedAt, updatedAt };
      await store.secrets?.save(this.#sealed(secret));
      // The sandboxes that name it have this object.
      known?.value.replace(value.reveal());
      this.#secrets.set(entryOf(name, keyId), { ...secret, value: known?.value ?? value });
    });
    return this.get(name, keyId);
  }

  /** Deletes a secret. Sandboxes that name it have its value no more. Rejects with a 507 problem when that cannot be recorded. */
  async delete(name: string, keyId: string | undefined): Promise<void> {
    const { store } = this.parts;
    await store.writes.save(about({ name, keyId }), async () => {
      const secret = this.find(name, keyId);
      if (!secret) return;
      await store.secrets?.remove(secret);
      secret.value.replace(undefined);
      this.#secrets.delete(entryOf(name, keyId));
    });
    this.#closeTunnels(name, keyId);
  }

  /** Closes open connections to its hosts, over which the value before was sent. */
  #closeTunnels(name: string, ofKey: string | undefined): void {
    const { egress, sandboxes } = this.parts;
    for (const { id, keyId, secrets = [] } of sandboxes())
      if (keyId === ofKey)
        egress.closeTunnels(
          id,
          secrets.filter(({ from }) => from === name),
        );
  }

  #sealed({ value, ...facts }: StoredSecret): StoredSecretRecord {
    const text = value.reveal();
    const record = { ...facts, id: value.id };
    const { sealer } = this.parts;
    return text === undefined || !sealer ? record : { ...record, sealed: sealer.seal(text, about(record)) };
  }
}

const entryOf = (name: string, keyId = ""): string => `${keyId} ${name}`;

const about = ({ name, keyId }: Pick<StoredSecretRecord, "name" | "keyId">): string =>
  `stored secret ${entryOf(name, keyId)}`;
