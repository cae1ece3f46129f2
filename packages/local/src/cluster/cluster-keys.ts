import type { NewEvent } from "@cloud-sandbox/server-kit/handlers";
import type { V1Secret } from "@kubernetes/client-node";
import { statusOf } from "../runtime/kubernetes/cluster.js";
import { ownLabel } from "../runtime/kubernetes/pod.js";
import type { ApiKeyRepository, StoredApiKey } from "../store/api-key-repository.js";
import type { EventLog } from "../store/event-log.js";
import type { Settings } from "../store/settings.js";
import { apiReason, type ClusterApi } from "./cluster-api.js";
import type { Term } from "./lease.js";
import { whileHeld } from "./not-saved.js";

const name = "cloud-sandbox-keys";
/** How many revoked keys are remembered: a Secret holds 1 MiB. */
const rememberedRevoked = 500;
/** How often a change is tried while other servers change the Secret. */
const mostTries = 10;

type Data = Readonly<Record<string, string>>;

/**
 * Stores in one Secret what all replicas share and nobody else may read: the API keys, and the keys that sign tokens.
 */
export class ClusterKeys implements Settings, ApiKeyRepository {
  /** A revocation fails unless it is saved, because the next leader would accept the key. */
  readonly mustSaveRevocations = true;

  constructor(
    private readonly cluster: ClusterApi,
    private readonly term: Pick<Term, "isHeld">,
    private readonly events: EventLog,
  ) {}

  async once(key: string, choose: () => string | Promise<string>): Promise<string> {
    const data = await this.#change(async (known) => {
      if (known[key] !== undefined) return known;
      return { ...known, [key]: encoded(await choose()) };
    });
    return decoded(data[key] ?? "");
  }

  async list(): Promise<readonly StoredApiKey[]> {
    const secret = await this.#read();
    return apiKeys(secret?.data ?? {}).sort(
      (one, other) => one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1),
    );
  }

  async save(key: StoredApiKey, events: readonly NewEvent[] = []): Promise<void> {
    await whileHeld(this.term, () =>
      this.#change(async (known) => withoutOldest({ ...known, [key.id]: encoded(JSON.stringify(key)) })),
    );
    this.events.record(events);
  }

  /** Changes the Secret, anew if another server does so at the same time. */
  async #change(change: (known: Data) => Promise<Data>): Promise<Data> {
    const { core, namespace } = this.cluster;
    for (let tries = 1; ; tries += 1) {
      const secret = await this.#read();
      const known = secret?.data ?? {};
      const data = await change(known);
      if (data === known) return known;
      const metadata = { name, labels: { ...ownLabel } };
      try {
        if (!secret) await core.createNamespacedSecret({ namespace, body: { metadata, data: { ...data } } });
        else {
          const resourceVersion = secret.metadata?.resourceVersion ?? "";
          const body: V1Secret = { metadata: { ...metadata, resourceVersion }, data: { ...data } };
          await core.replaceNamespacedSecret({ namespace, name, body });
        }
        return data;
      } catch (error) {
        if (statusOf(error) !== 409 || tries === mostTries) throw refused(error);
      }
    }
  }

  async #read(): Promise<V1Secret | undefined> {
    const { core, namespace } = this.cluster;
    try {
      return await core.readNamespacedSecret({ namespace, name });
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw refused(error);
    }
  }
}

const refused = (cause: unknown): Error =>
  new Error(`the Secret ${name} cannot be read or written (${apiReason(cause)})`, { cause });

/** Leaves out the API keys that were revoked longest ago. */
function withoutOldest(data: Data): Data {
  const outdated = apiKeys(data)
    .filter(({ revokedAt }) => revokedAt !== undefined)
    .sort((one, other) => Number(other.revokedAt) - Number(one.revokedAt))
    .slice(rememberedRevoked)
    .map(({ id }) => id);
  return Object.fromEntries(Object.entries(data).filter(([key]) => !outdated.includes(key)));
}

const apiKeys = (data: Data): StoredApiKey[] =>
  Object.entries(data).flatMap(([key, value]) => (key.startsWith("key_") ? [apiKey(decoded(value))] : []));

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

const encoded = (text: string): string => Buffer.from(text).toString("base64");
const decoded = (text: string): string => Buffer.from(text, "base64").toString("utf8");
