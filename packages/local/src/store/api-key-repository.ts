import type { NewEvent } from "@cloud-sandbox/server-kit/handlers";
import type { Database, Row } from "./database.js";
import type { EventLog } from "./event-log.js";

/** How many revoked keys are remembered, so that their users are told that the key was revoked. */
const rememberedRevoked = 1000;

/** An API key as it is stored: with the key's hash instead of the key. */
export interface StoredApiKey {
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the key, in base64. */
  readonly digest: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | undefined;
  readonly maxSandboxes: number | undefined;
  /** The PriorityClass of its sandboxes, on Kubernetes. */
  readonly priorityClass: string | undefined;
  readonly revokedAt: Date | undefined;
  readonly lastUsedAt: Date | undefined;
}

/** Where the API keys besides the server's own are kept. A change is durable when its promise resolves. */
export interface ApiKeyRepository {
  /** Whether a revocation is refused while it cannot be saved. Otherwise it holds at once, and is saved when that is possible. */
  readonly mustSaveRevocations: boolean;
  /** All keys, the oldest first. */
  list(): Promise<readonly StoredApiKey[]>;
  /** Inserts the key, or replaces the one with the same id. Records the events of the change with it. */
  save(key: StoredApiKey, events?: readonly NewEvent[]): Promise<void>;
}

export class SqliteApiKeyRepository implements ApiKeyRepository {
  readonly mustSaveRevocations = false;

  constructor(
    private readonly database: Database,
    private readonly events: EventLog,
  ) {}

  async list(): Promise<readonly StoredApiKey[]> {
    return this.database.all("SELECT * FROM api_keys ORDER BY created_at, id").map(storedKey);
  }

  async save(key: StoredApiKey, events: readonly NewEvent[] = []): Promise<void> {
    this.events.record(events, () => this.#save(key));
  }

  #save(key: StoredApiKey): void {
    this.database.run(
      `INSERT OR REPLACE INTO api_keys
         (id, name, digest, created_at, expires_at, max_sandboxes, revoked_at, last_used_at, priority_class)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        key.id,
        key.name,
        key.digest,
        key.createdAt.getTime(),
        key.expiresAt?.getTime() ?? null,
        key.maxSandboxes ?? null,
        key.revokedAt?.getTime() ?? null,
        key.lastUsedAt?.getTime() ?? null,
        key.priorityClass ?? null,
      ],
    );
    if (key.revokedAt === undefined) return;
    this.database.run(
      `DELETE FROM api_keys WHERE id IN
         (SELECT id FROM api_keys WHERE revoked_at IS NOT NULL ORDER BY revoked_at DESC LIMIT -1 OFFSET ?)`,
      [rememberedRevoked],
    );
  }
}

function storedKey(row: Row): StoredApiKey {
  const number = (name: string): number | undefined => (row[name] === null ? undefined : Number(row[name]));
  const date = (name: string): Date | undefined => {
    const at = number(name);
    return at === undefined ? undefined : new Date(at);
  };
  return {
    id: String(row.id),
    name: String(row.name),
    digest: String(row.digest),
    createdAt: new Date(Number(row.created_at)),
    expiresAt: date("expires_at"),
    maxSandboxes: number("max_sandboxes"),
    priorityClass: typeof row.priority_class === "string" ? row.priority_class : undefined,
    revokedAt: date("revoked_at"),
    lastUsedAt: date("last_used_at"),
  };
}
