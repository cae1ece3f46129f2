import type { NewEvent } from "@cloud-sandbox/server-kit/handlers";
import type { ApiKeyRepository, StoredApiKey } from "../store/api-key-repository.js";
import type { EventLog } from "../store/event-log.js";
import type { Settings } from "../store/settings.js";
import type { ClusterApi } from "./cluster-api.js";
import { ClusterSecret, type Texts } from "./cluster-secret.js";
import type { Term } from "./lease.js";
import { whileHeld } from "./not-saved.js";

const name = "cloud-sandbox-keys";
/** How many revoked keys are remembered: a Secret holds 1 MiB. */
const rememberedRevoked = 500;
/**
 * Stores in one Secret what all replicas share and nobody else may read: the API keys, and the keys that sign tokens.
 */
export class ClusterKeys implements Settings, ApiKeyRepository {
  /** A revocation fails unless it is saved, because the next leader would accept the key. */
  readonly mustSaveRevocations = true;

  readonly #secret: ClusterSecret;

  constructor(
    cluster: ClusterApi,
    private readonly term: Pick<Term, "isHeld">,
    private readonly events: EventLog,
  ) {
    this.#secret = new ClusterSecret(cluster, name, "the API keys of this service");
  }

  async find(key: string): Promise<string | undefined> {
    return (await this.#secret.read())[key];
  }

  async once(key: string, choose: () => string | Promise<string>): Promise<string> {
    const texts = await this.#secret.change(async (known) =>
      known[key] === undefined ? { ...known, [key]: await choose() } : known,
    );
    return texts[key] ?? "";
  }

  async list(): Promise<readonly StoredApiKey[]> {
    return apiKeys(await this.#secret.read()).sort(
      (one, other) => one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1),
    );
  }

  async save(key: StoredApiKey, events: readonly NewEvent[] = []): Promise<void> {
    await whileHeld(this.term, () =>
      this.#secret.change((known) => withoutOldest({ ...known, [key.id]: JSON.stringify(key) })),
    );
    this.events.record(events);
  }
}

/** Leaves out the API keys that were revoked longest ago. */
function withoutOldest(texts: Texts): Texts {
  const outdated = apiKeys(texts)
    .filter(({ revokedAt }) => revokedAt !== undefined)
    .sort((one, other) => Number(other.revokedAt) - Number(one.revokedAt))
    .slice(rememberedRevoked)
    .map(({ id }) => id);
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !outdated.includes(key)));
}

const apiKeys = (texts: Texts): StoredApiKey[] =>
  Object.entries(texts).flatMap(([key, text]) => (key.startsWith("key_") ? [apiKey(text)] : []));

function apiKey(text: string): StoredApiKey {
  const key = JSON.parse(text);
  const date = (value: string | undefined): Date | undefined =>
    value === undefined ? undefined : new Date(value);
  return {
    id: key.id,
    name: key.name,
    digest: key.digest,
    maxSandboxes: key.maxSandboxes,
    priorityClass: key.priorityClass,
    createdAt: new Date(key.createdAt),
    expiresAt: date(key.expiresAt),
    revokedAt: date(key.revokedAt),
    lastUsedAt: date(key.lastUsedAt),
  };
}
