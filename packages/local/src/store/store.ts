import { type ApiKeyRepository, SqliteApiKeyRepository } from "./api-key-repository.js";
import { DataDirectory } from "./data-directory.js";
import { Database } from "./database.js";
import { type EventLog, MemoryEventLog, SqliteEventLog } from "./event-log.js";
import { PendingWrites } from "./pending-writes.js";
import {
  MemorySandboxRepository,
  type SandboxRepository,
  SqliteSandboxRepository,
} from "./sandbox-repository.js";
import { type SecretRepository, SqliteSecretRepository } from "./secret-repository.js";
import { type Settings, SettingsRepository } from "./settings.js";
import { isFull, unusableDirectory } from "./storage-problem.js";

/** The control plane's data: in its data directory, or, without one, in memory. */
export interface Store {
  /** The data directory. Undefined when the data is in memory and ends with the process. */
  readonly directory: string | undefined;
  readonly settings: Settings | undefined;
  readonly sandboxes: SandboxRepository;
  /** Whether the records outlive this process. */
  readonly isKept: boolean;
  /** The API keys besides the server's own. Without a data directory: in memory, created by the first call. */
  apiKeys(): Promise<ApiKeyRepository>;
  /** The stored secrets. Undefined without a data directory: they end with the process. */
  readonly secrets: SecretRepository | undefined;
  /** Writes that must not be lost, repeated until they succeed. */
  readonly writes: PendingWrites;
  readonly events: EventLog;
  /** Why no change can be saved now, for people. Undefined if it can. */
  problem(): StoreProblem | undefined;
  /** The database of templates and webhooks. Without a data directory: in memory, created by the first call. */
  database(): Promise<Database>;
  /** Resolves with the number of changes that could not be saved. */
  close(): Promise<number>;
}

export interface StoreProblem {
  readonly storage: "full" | "unavailable";
  readonly message: string;
}

export async function openStore(dataDirectory?: string): Promise<Store> {
  return dataDirectory === undefined ? memoryStore() : fileStore(dataDirectory);
}

/** A store without a directory. It loads SQLite (15 ms, 25 MB) only on demand, because an embedded control plane often needs none. */
function memoryStore(): Store {
  let database: Promise<Database> | undefined;
  const open = (): Promise<Database> => {
    database ??= Database.open().catch((error: unknown) => {
      // The next call tries again.
      database = undefined;
      throw error;
    });
    return database;
  };
  const events = new MemoryEventLog();
  return {
    directory: undefined,
    isKept: false,
    settings: undefined,
    sandboxes: new MemorySandboxRepository(events),
    apiKeys: async () => new SqliteApiKeyRepository(await open(), events),
    events,
    secrets: undefined,
    writes: new PendingWrites(() => undefined),
    problem: () => undefined,
    database: open,
    close: async () => {
      (await database)?.close();
      return 0;
    },
  };
}

async function fileStore(path: string): Promise<Store> {
  const directory = await DataDirectory.open(path);
  try {
    const database = await Database.open(directory.databaseFile);
    const settings = new SettingsRepository(database);
    const probe = (): void => settings.set("last_written", new Date().toISOString());
    const writes = new PendingWrites(probe);
    let closed: Promise<number> | undefined;
    const closeOnce = async (): Promise<number> => {
      const left = await writes.close();
      try {
        database.close();
      } finally {
        await directory.close();
      }
      return left;
    };
    const close = (): Promise<number> => {
      closed ??= closeOnce();
      return closed;
    };
    let events: EventLog;
    try {
      // A read-only or full directory must fail the start, not the first request.
      probe();
      events = await SqliteEventLog.open(database, settings);
    } catch (error) {
      await close();
      throw error;
    }
    return {
      directory: directory.path,
      isKept: true,
      settings,
      sandboxes: new SqliteSandboxRepository(database, events),
      apiKeys: async () => new SqliteApiKeyRepository(database, events),
      events,
      secrets: new SqliteSecretRepository(database),
      writes,
      problem: () => (writes.isFailing || isFull(directory.path) ? fullDirectory : undefined),
      database: async () => database,
      close,
    };
  } catch (error) {
    await directory.close();
    throw unusableDirectory(directory.path, error);
  }
}

const fullDirectory: StoreProblem = {
  storage: "full",
  message:
    "The data directory is full or cannot be written to. Sandboxes keep running and can be deleted, but changes cannot be saved. Free some disk space there.",
};
