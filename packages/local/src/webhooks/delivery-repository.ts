import type { Delivery, DeliveryStatus } from "@cloud-sandbox/server-kit/handlers";
import type { Database, Row, SqlValue } from "../store/database.js";
import type { Callback } from "./callback.js";

/** Finished deliveries of each API key are kept up to this number and this many bytes of payload. */
const rememberedDeliveries = 1000;
const rememberedBytes = 64 * 1024 * 1024;

const shownColumns =
  "id, sandbox_id, execution_id, callback_url, status, created_at, queued_at, attempts, next_attempt_at, last_attempt_at, response_status, error, key_id, subscription_id";

export type DeliveryChange = Partial<
  Pick<
    Delivery,
    "status" | "queuedAt" | "attempts" | "nextAttemptAt" | "lastAttemptAt" | "responseStatus" | "error"
  >
> & { readonly payload?: string };

/** A delivery, and who may see it. */
export interface StoredDelivery extends Delivery {
  /** The API key of the sandbox, or of the webhook. Undefined for the server's own. */
  readonly keyId: string | undefined;
  /** Whether it is an event, and no report of an execution. */
  readonly isEvent: boolean;
}

/** Stores webhook deliveries: a delivery is saved before its caller gets an answer, and kept for a while after it is done. */
export class DeliveryRepository {
  constructor(private readonly database: Database) {}

  /** `keyId`: the API key of the sandbox; undefined for the server's own. `subscriptionId`: of an event, whose it is. */
  add(
    delivery: Pick<Delivery, "id" | "sandboxId" | "executionId" | "createdAt">,
    callback: Callback,
    keyId?: string,
    subscriptionId?: string,
  ): void {
    this.database.run(
      `INSERT INTO webhook_deliveries
         (id, sandbox_id, execution_id, callback_url, headers, secret, status, created_at, key_id, subscription_id)
       VALUES (?, ?, ?, ?, ?, ?, 'waiting', ?, ?, ?)`,
      [
        delivery.id,
        delivery.sandboxId,
        delivery.executionId,
        callback.url,
        JSON.stringify(callback.headers),
        callback.secret ?? null,
        delivery.createdAt.getTime(),
        keyId ?? null,
        subscriptionId ?? null,
      ],
    );
  }

  change(id: string, change: DeliveryChange): void {
    const values = Object.entries(columnsOf(change));
    const assignments = values.map(([column]) => `${column} = ?`).join(", ");
    this.database.run(`UPDATE webhook_deliveries SET ${assignments} WHERE id = ?`, [
      ...values.map(([, value]) => value),
      id,
    ]);
    if (change.status === "delivered" || change.status === "failed") this.#forgetOldest();
  }

  /** Gives up all events of a subscription that are pending. */
  failEvents(subscriptionId: string, error: string): void {
    this.database.run(
      `UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL, error = ?
         WHERE status = 'pending' AND subscription_id = ?`,
      [error, subscriptionId],
    );
    this.#forgetOldest();
  }

  find(id: string): StoredDelivery | undefined {
    const row = this.database.get(`SELECT ${shownColumns} FROM webhook_deliveries WHERE id = ?`, [id]);
    return row && deliveryOf(row);
  }

  /** The payload, URL, headers and secret of a delivery, and whose it is. For sending only: the secrets are never shown. */
  findReport(
    id: string,
  ):
    | { readonly callback: Callback; readonly payload: string; readonly keyId: string | undefined }
    | undefined {
    const row = this.database.get(
      "SELECT callback_url, headers, secret, payload, key_id FROM webhook_deliveries WHERE id = ? AND payload IS NOT NULL",
      [id],
    );
    return (
      row && {
        callback: {
          url: String(row.callback_url),
          headers: JSON.parse(String(row.headers)) as Record<string, string>,
          secret: text(row.secret),
        },
        payload: String(row.payload),
        keyId: text(row.key_id),
      }
    );
  }

  list(filter: {
    readonly sandboxId?: string | undefined;
    readonly status?: DeliveryStatus | undefined;
  }): readonly StoredDelivery[] {
    const sql = `SELECT ${shownColumns} FROM webhook_deliveries
      WHERE (?1 IS NULL OR sandbox_id = ?1) AND (?2 IS NULL OR status = ?2)`;
    return this.database.all(sql, [filter.sandboxId ?? null, filter.status ?? null]).map(deliveryOf);
  }

  /** The number of events of a subscription that are pending. */
  countOf(subscriptionId: string): number {
    const sql =
      "SELECT COUNT(*) AS count FROM webhook_deliveries WHERE status = 'pending' AND subscription_id = ?";
    return Number(this.database.get(sql, [subscriptionId])?.count ?? 0);
  }

  /** The number of reports of a key that are waiting or pending. */
  countOpen(keyId?: string): number {
    const sql =
      "SELECT COUNT(*) AS count FROM webhook_deliveries WHERE status IN ('waiting', 'pending') AND subscription_id IS NULL AND key_id IS ?";
    return Number(this.database.get(sql, [keyId ?? null])?.count ?? 0);
  }

  #forgetOldest(): void {
    this.database.run(
      `DELETE FROM webhook_deliveries WHERE id IN (
         SELECT id FROM (
           SELECT id, ROW_NUMBER() OVER newest AS number, SUM(payload_bytes) OVER newest AS bytes
           FROM webhook_deliveries WHERE status IN ('delivered', 'failed')
           WINDOW newest AS (PARTITION BY key_id ORDER BY id DESC)
         ) WHERE number > ? OR bytes > ?)`,
      [rememberedDeliveries, rememberedBytes],
    );
  }
}

function columnsOf(change: DeliveryChange): Readonly<Record<string, SqlValue>> {
  const { payload, ...rest } = change;
  const columns: Record<string, SqlValue> = {};
  for (const [name, value] of Object.entries(rest)) {
    const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    columns[column] = value instanceof Date ? value.getTime() : (value ?? null);
  }
  if (payload !== undefined) {
    columns.payload = payload;
    columns.payload_bytes = Buffer.byteLength(payload);
  }
  return columns;
}

function deliveryOf(row: Row): StoredDelivery {
  return {
    id: String(row.id),
    sandboxId: String(row.sandbox_id),
    executionId: String(row.execution_id),
    callbackUrl: String(row.callback_url),
    status: row.status as DeliveryStatus,
    createdAt: new Date(Number(row.created_at)),
    queuedAt: date(row.queued_at),
    attempts: Number(row.attempts),
    nextAttemptAt: date(row.next_attempt_at),
    lastAttemptAt: date(row.last_attempt_at),
    responseStatus: typeof row.response_status === "number" ? row.response_status : undefined,
    error: text(row.error),
    keyId: text(row.key_id),
    isEvent: text(row.subscription_id) !== undefined,
  };
}

const text = (value: SqlValue | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

const date = (value: SqlValue | undefined): Date | undefined =>
  typeof value === "number" || typeof value === "bigint" ? new Date(Number(value)) : undefined;
