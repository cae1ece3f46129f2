import { createHash } from "node:crypto";
import {
  type SecretRepository,
  type StoredSecretRecord,
  secretRecordFrom,
} from "../store/secret-repository.js";
import type { ClusterApi } from "./cluster-api.js";
import { ClusterSecret } from "./cluster-secret.js";
import type { Term } from "./lease.js";
import { whileHeld } from "./not-saved.js";

/** The records of stored secrets in one Secret of the cluster. */
export class ClusterStoredSecrets implements SecretRepository {
  readonly #secret: ClusterSecret;

  constructor(
    cluster: ClusterApi,
    private readonly term: Pick<Term, "isHeld">,
  ) {
    this.#secret = new ClusterSecret(cluster, "cloud-sandbox-secrets", "the stored secrets of all API keys");
  }

  async list(): Promise<readonly StoredSecretRecord[]> {
    return Object.values(await this.#secret.read()).map(secretRecordFrom);
  }

  async save(record: StoredSecretRecord): Promise<void> {
    await whileHeld(this.term, () =>
      this.#secret.change((known) => ({ ...known, [entryOf(record)]: JSON.stringify(record) })),
    );
  }

  async remove(record: Pick<StoredSecretRecord, "name" | "keyId">): Promise<void> {
    const entry = entryOf(record);
    await whileHeld(this.term, () => this.#secret.change(({ [entry]: removed, ...others }) => others));
  }
}

/** A Secret's keys are shorter than names of secrets may be together with an API key's id. */
const entryOf = ({ name, keyId = "" }: Pick<StoredSecretRecord, "name" | "keyId">): string =>
  createHash("sha256").update(`${keyId} ${name}`).digest("hex");
