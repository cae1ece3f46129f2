import type { SecretFacts } from "@cloud-sandbox/server-kit/handlers";
import type { Database } from "./database.js";

/** Where and how a value may be sent. */
export interface SecretRules extends Pick<SecretFacts, "basic" | "headers" | "hosts" | "methods" | "paths"> {
  /** Undefined for a random one. */
  readonly placeholder: string | undefined;
}

/** A stored secret without its value, or with the sealed value. */
export interface StoredSecretRecord {
  readonly name: string;
  /** The id of its value, which stays when the value is replaced. Undefined before values had ids. */
  readonly id?: string | undefined;
  readonly rules: SecretRules;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Undefined if the value is in memory alone. */
  readonly sealed?: string | undefined;
  /** Id of the API key that stored it. Undefined for the server's own key. */
  readonly keyId?: string | undefined;
}

/** Where records of stored secrets are kept. A change is durable when its promise resolves. */
export interface SecretRepository {
  list(): Promise<readonly StoredSecretRecord[]>;
  /** Inserts the record, or replaces that of the same name and API key. */
  save(record: StoredSecretRecord): Promise<void>;
  remove(record: Pick<StoredSecretRecord, "name" | "keyId">): Promise<void>;
}

export class SqliteSecretRepository implements SecretRepository {
  constructor(private readonly database: Database) {}

  async list(): Promise<readonly StoredSecretRecord[]> {
    return this.database
      .all("SELECT record FROM stored_secrets")
      .map(({ record }) => secretRecordFrom(String(record)));
  }

  async save(record: StoredSecretRecord): Promise<void> {
    this.database.run("INSERT OR REPLACE INTO stored_secrets (name, key_id, record) VALUES (?, ?, ?)", [
      record.name,
      record.keyId ?? "",
      JSON.stringify(record),
    ]);
  }

  async remove({ name, keyId = "" }: Pick<StoredSecretRecord, "name" | "keyId">): Promise<void> {
    this.database.run("DELETE FROM stored_secrets WHERE name = ? AND key_id = ?", [name, keyId]);
  }
}

/** The record in a text that `JSON.stringify` made. */
export function secretRecordFrom(text: string): StoredSecretRecord {
  const record = JSON.parse(text);
  return { ...record, createdAt: new Date(record.createdAt), updatedAt: new Date(record.updatedAt) };
}
