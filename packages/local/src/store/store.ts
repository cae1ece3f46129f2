import { DataDirectory } from "./data-directory.js";
import { Database } from "./database.js";
import {
  MemorySandboxRepository,
  type SandboxRepository,
  SqliteSandboxRepository,
} from "./sandbox-repository.js";
import { SettingsRepository } from "./settings-repository.js";

/** What a control plane remembers: in its data directory, or without one as long as it lives. */
export interface Store {
  /** Undefined where nothing outlives the process. */
  readonly directory: string | undefined;
  readonly settings: SettingsRepository | undefined;
  readonly sandboxes: SandboxRepository;
  /** For the other tables. Without a data directory it is one in memory, made when it is first asked for. */
  database(): Promise<Database>;
  close(): Promise<void>;
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
    database: () => {
      database ??= Database.open();
      return database;
    },
    close: async () => (await database)?.close(),
  };
}

async function fileStore(path: string): Promise<Store> {
  const directory = await DataDirectory.open(path);
  try {
    const database = await Database.open(directory.databaseFile);
    return {
      directory: directory.path,
      settings: new SettingsRepository(database),
      sandboxes: new SqliteSandboxRepository(database),
      database: async () => database,
      close: async () => {
        database.close();
        await directory.close();
      },
    };
  } catch (error) {
    await directory.close();
    throw error;
  }
}
