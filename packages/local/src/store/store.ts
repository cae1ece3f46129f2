import { DataDirectory } from "./data-directory.js";
import { Database } from "./database.js";
import { PendingWrites } from "./pending-writes.js";
import {
  MemorySandboxRepository,
  type SandboxRepository,
  SqliteSandboxRepository,
} from "./sandbox-repository.js";
import { SettingsRepository } from "./settings-repository.js";
import { isFull, unusableDirectory } from "./storage-problem.js";

/** What a control plane remembers: in its data directory, or without one as long as it lives. */
export interface Store {
  /** Undefined where nothing outlives the process. */
  readonly directory: string | undefined;
  readonly settings: SettingsRepository | undefined;
  readonly sandboxes: SandboxRepository;
  /** Through which everything is written that must be kept in the end. */
  readonly writes: PendingWrites;
  /** Whether what is asked for now could not be kept. */
  isFull(): boolean;
  /** For the other tables. Without a data directory it is one in memory, made when it is first asked for. */
  database(): Promise<Database>;
  /** How many changes could not be kept. */
  close(): Promise<number>;
}

export async function openStore(dataDirectory?: string): Promise<Store> {
  return dataDirectory === undefined ? memoryStore() : fileStore(dataDirectory);
}

/** The control plane that starts and ends with a program does not pay for what it may never need. */
function memoryStore(): Store {
  let database: Promise<Database> | undefined;
  return {
    directory: undefined,
    settings: undefined,
    sandboxes: new MemorySandboxRepository(),
    writes: new PendingWrites(() => undefined),
    isFull: () => false,
    database: () => {
      database ??= Database.open();
      return database;
    },
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
      const left = writes.close();
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
    try {
      // Better than to find out at the first change that none can be kept.
      probe();
    } catch (error) {
      await close();
      throw error;
    }
    return {
      directory: directory.path,
      settings,
      sandboxes: new SqliteSandboxRepository(database),
      writes,
      isFull: () => writes.isFailing || isFull(directory.path),
      database: async () => database,
      close,
    };
  } catch (error) {
    await directory.close();
    throw unusableDirectory(directory.path, error);
  }
}
