import {
  Changes,
  type EventFacts,
  type EventType,
  type EventView,
  type KeptEvent,
  type KeptEvents,
  keptEvents,
  keptMs,
  MemoryEvents,
  type NewEvent,
  newEpoch,
} from "@cloud-sandbox/server-kit/handlers";
import type { Database, Row, SqlValue } from "./database.js";
import type { Settings } from "./settings.js";

/** The events of a server, and where they are kept. */
export interface EventLog extends KeptEvents {
  /**
   * Records events together with the change that they tell of: both are kept, or, if this throws, neither. Without a change, use
   * {@link append}, which does not wait for the disk.
   */
  record(events: readonly NewEvent[], change?: () => void): void;
  /**
   * Records an event without waiting for the disk. It is written with others at the end of this turn of the event loop; a failure of the
   * machine, but no kill of this process, may lose it later.
   */
  append(event: NewEvent): void;
  /** Writes what was appended now. */
  flush(): void;
}

/** The events of a server without a data directory. */
export class MemoryEventLog extends MemoryEvents implements EventLog {
  override record(events: readonly NewEvent[], change?: () => void): void {
    change?.();
    super.record(events);
  }

  append(event: NewEvent): void {
    this.record([event]);
  }

  flush(): void {
    // All events are in memory already.
  }
}

const pruneEvery = 1000;
/** Milliseconds before appended events are written again when the data directory is full, and most events that wait for it. */
const retryMs = 500;
const mostAppended = 10_000;

/** The events in the database. */
export class SqliteEventLog implements EventLog {
  readonly #changes = new Changes();
  /** Appended events that are not written yet. */
  #appended: NewEvent[] = [];
  #writing: NodeJS.Immediate | NodeJS.Timeout | undefined;
  #untilPrune = 0;
  #last: number;

  static async open(database: Database, settings: Settings): Promise<SqliteEventLog> {
    return new SqliteEventLog(database, await settings.once("events_epoch", newEpoch));
  }

  private constructor(
    private readonly database: Database,
    readonly epoch: string,
  ) {
    const { last } =
      database.get(
        "SELECT MAX(id) AS last FROM (SELECT id FROM events UNION ALL SELECT until FROM gone_events)",
      ) ?? {};
    // A failure of the machine may have lost the last events, which callers have read: no later event gets their ids.
    this.#last = Number(last ?? 0) + mostAppended;
  }

  get last(): number {
    return this.#last;
  }

  record(events: readonly NewEvent[], change: () => void = () => undefined): void {
    this.flush();
    const written = this.database.transaction(() => {
      change();
      return this.#insert(events);
    });
    this.#wrote(written);
  }

  append(event: NewEvent): void {
    this.#appended.push(event);
    if (this.#appended.length > mostAppended) this.#appended.shift();
    this.#writing ??= setImmediate(() => this.#write());
  }

  after(sequence: number, { keyId, sandboxId, types }: EventView, limit: number): readonly KeptEvent[] {
    const conditions = [
      "id > ?",
      ...(keyId === undefined ? [] : ["key_id = ?"]),
      ...(sandboxId === undefined ? [] : ["sandbox_id = ?"]),
      ...(types === undefined ? [] : [`type IN (${[...types].map(() => "?").join(", ")})`]),
    ];
    const values = [sequence, keyId ?? [], sandboxId ?? [], ...(types ?? []), limit].flat();
    return this.database
      .all(`SELECT * FROM events WHERE ${conditions.join(" AND ")} ORDER BY id LIMIT ?`, values)
      .map(eventOf);
  }

  goneUntil(keyId: string | undefined): number {
    const { gone } =
      keyId === undefined
        ? (this.database.get("SELECT MAX(until) AS gone FROM gone_events") ?? {})
        : (this.database.get("SELECT until AS gone FROM gone_events WHERE key_id = ?", [keyId]) ?? {});
    return Number(gone ?? 0);
  }

  next(signal: AbortSignal): Promise<void> {
    return this.#changes.next(signal);
  }

  /** If the data directory is full, they are written once it is not. */
  flush(): void {
    if (this.#appended.length === 0) return;
    try {
      const written = this.#insertUnflushed(this.#appended);
      this.#appended = [];
      this.#wrote(written);
    } catch {
      this.#writing ??= setTimeout(() => this.#write(), retryMs).unref();
    }
  }

  #write(): void {
    this.#writing = undefined;
    this.flush();
  }

  #insert(events: readonly NewEvent[]): number {
    for (const [index, event] of events.entries())
      this.database.run(insertion, valuesOf(event, this.#last + index + 1));
    return events.length;
  }

  /** A single event needs no transaction. */
  #insertUnflushed(events: readonly NewEvent[]): number {
    const [event, ...others] = events;
    if (event === undefined || others.length > 0) return this.database.unflushed(() => this.#insert(events));
    this.database.runUnflushed(insertion, valuesOf(event, this.#last + 1));
    return 1;
  }

  #wrote(count: number): void {
    this.#last += count;
    this.#untilPrune -= count;
    if (count > 0) this.#changes.tell();
    if (this.#untilPrune > 0) return;
    this.#untilPrune = pruneEvery;
    this.#prune();
  }

  #prune(): void {
    const old = `FROM (SELECT id, at, key_id, ROW_NUMBER() OVER (PARTITION BY key_id ORDER BY id DESC) AS number FROM events)
      WHERE number > ? OR at < ?`;
    const values = [keptEvents, Date.now() - keptMs];
    try {
      this.database.unflushed(() => {
        this.database.run(
          `INSERT INTO gone_events (key_id, until) SELECT COALESCE(key_id, ''), MAX(id) ${old} GROUP BY key_id
             ON CONFLICT (key_id) DO UPDATE SET until = excluded.until`,
          values,
        );
        this.database.run(`DELETE FROM events WHERE id IN (SELECT id ${old})`, values);
      });
    } catch {
      // The data directory is full: old events go with the next ones.
    }
  }
}

const insertion = "INSERT INTO events (id, at, type, sandbox_id, key_id, facts) VALUES (?, ?, ?, ?, ?, ?)";

const valuesOf = ({ type, at, sandboxId, keyId, facts }: NewEvent, id: number): readonly SqlValue[] => [
  id,
  at.getTime(),
  type,
  sandboxId ?? null,
  keyId ?? null,
  JSON.stringify(facts),
];

function eventOf(row: Row): KeptEvent {
  return {
    sequence: Number(row.id),
    type: row.type as EventType,
    at: new Date(Number(row.at)),
    ...(typeof row.sandbox_id === "string" && { sandboxId: row.sandbox_id }),
    ...(typeof row.key_id === "string" && { keyId: row.key_id }),
    facts: JSON.parse(String(row.facts)) as EventFacts,
  };
}
