import type { EventType } from "@cloud-sandbox/server-kit/handlers";
import type { Database, Row } from "../store/database.js";
import type { Callback } from "./callback.js";

/** A URL that gets events. */
export interface Subscription {
  readonly id: string;
  /** The API key that made it. Undefined for the server's own. */
  readonly keyId: string | undefined;
  readonly callback: Callback;
  readonly types: readonly EventType[] | undefined;
  readonly sandboxId: string | undefined;
  /** The number of the last event that was queued for it. */
  readonly cursor: number;
  readonly createdAt: Date;
}

/** Stores who gets events. */
export class SubscriptionRepository {
  constructor(private readonly database: Database) {}

  add({ id, keyId, callback, types, sandboxId, cursor, createdAt }: Subscription): void {
    this.database.run(
      "INSERT INTO webhook_subscriptions (id, key_id, url, secret, types, sandbox_id, cursor, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      [
        id,
        keyId ?? null,
        callback.url,
        callback.secret ?? null,
        types ? JSON.stringify(types) : null,
        sandboxId ?? null,
        cursor,
        createdAt.getTime(),
      ],
    );
  }

  /** Those of an API key; for undefined, the server's own key, those of all. */
  list(keyId: string | undefined): readonly Subscription[] {
    return this.database
      .all("SELECT * FROM webhook_subscriptions WHERE ?1 IS NULL OR key_id = ?1 ORDER BY created_at, id", [
        keyId ?? null,
      ])
      .map(subscriptionOf);
  }

  /**
   * Moves a subscription on, and does with that what `queue` does, or neither. It does not wait for the disk, as little as the events
   * that it passes: each of them would stop the server for that, also those that it does not want.
   */
  moveOn(id: string, cursor: number, queue: () => void): void {
    this.database.unflushed(() => {
      queue();
      this.database.run("UPDATE webhook_subscriptions SET cursor = ? WHERE id = ?", [cursor, id]);
    });
  }

  /** Removes a subscription, and does with that what `fail` does, or neither. */
  remove(id: string, fail: () => void): void {
    this.database.transaction(() => {
      fail();
      this.database.run("DELETE FROM webhook_subscriptions WHERE id = ?", [id]);
    });
  }
}

function subscriptionOf(row: Row): Subscription {
  const text = (name: string): string | undefined => (typeof row[name] === "string" ? row[name] : undefined);
  const types = text("types");
  return {
    id: String(row.id),
    keyId: text("key_id"),
    callback: { url: String(row.url), headers: {}, secret: text("secret") },
    types: types === undefined ? undefined : (JSON.parse(types) as EventType[]),
    sandboxId: text("sandbox_id"),
    cursor: Number(row.cursor),
    createdAt: new Date(Number(row.created_at)),
  };
}
