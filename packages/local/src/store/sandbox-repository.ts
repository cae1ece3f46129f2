import {
  type EndedSandbox,
  type Idempotency,
  type MountFacts,
  type NewEvent,
  neverSleeps,
  type RequestedEgress,
  type SecretFacts,
  type SleepSettings,
  type StopReason,
} from "@cloud-sandbox/server-kit/handlers";
import * as z from "zod/mini";
import type { LocalTemplate } from "../catalogue/template-catalogue.js";
import { type IsolationLevel, isolationLevels } from "../runtime/sandbox-runtime.js";
import type { Database, Row } from "./database.js";
import { type EventLog, MemoryEventLog } from "./event-log.js";

/** What a sandbox mounts, each time its machine starts. */
export interface SandboxMount extends MountFacts {
  /** Undefined for a directory of this machine. */
  readonly volumeId?: string;
}

/** How many ended sandboxes are remembered. */
const rememberedEnds = 10_000;

/** The part of a sandbox that survives a restart of the control plane. Its machine does not. */
export interface StoredSandbox {
  readonly id: string;
  /** A copy from when the sandbox was created, because the template may be deleted later. */
  readonly template: LocalTemplate;
  readonly isolation: IsolationLevel;
  readonly status: "running" | "paused" | "stopped" | "error";
  readonly createdAt: Date;
  readonly timeoutSeconds: number;
  readonly expiresAt: Date;
  readonly name: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly egress: RequestedEgress;
  readonly mounted: readonly SandboxMount[];
  /** Its secrets without their values. Undefined if it was created without. */
  readonly secrets?: readonly StoredSecret[] | undefined;
  /** Tells the authority that its programs trust from others. Undefined if it was created without secrets. */
  readonly authority?: string | undefined;
  readonly failureReason: string | undefined;
  /** Undefined in records of earlier releases. */
  readonly sleep?: SleepSettings;
  readonly stopReason?: StopReason | undefined;
  /** Links to its ports and files that were made until then are revoked. */
  readonly linksRevokedAt?: Date | undefined;
  readonly restores?: number | undefined;
  readonly idempotency: Idempotency | undefined;
  /** Id of the API key that created the sandbox. Undefined for the server's own key. */
  readonly keyId: string | undefined;
}

/** A secret without its value, or with the sealed value. */
export interface StoredSecret extends Omit<SecretFacts, "isLost"> {
  readonly sealed?: string;
  /** Tells the stored secret that it names from another of its name. */
  readonly valueId?: string | undefined;
}

/** What is remembered of a sandbox that has ended. */
export interface StoredEnd extends EndedSandbox {
  readonly keyId: string | undefined;
}

/** Where records of sandboxes are kept. A change is durable when its promise resolves. */
export interface SandboxRepository {
  /** Whether a delete is refused while it cannot be recorded. Otherwise it holds at once, and is recorded when that is possible. */
  readonly mustRecordDeletes: boolean;
  /** Inserts the sandbox, or replaces the record with the same id. Records the events of the change with it. */
  save(sandbox: StoredSandbox, events?: readonly NewEvent[]): Promise<void>;
  list(): Promise<readonly StoredSandbox[]>;
  /** Deletes the sandbox's record and records when and why it ended, with the events of that. */
  end(ended: StoredEnd, events?: readonly NewEvent[]): Promise<void>;
  findEnded(id: string): StoredEnd | undefined;
}

export class SqliteSandboxRepository implements SandboxRepository {
  /** Deletes make room on a disk that is full. */
  readonly mustRecordDeletes = false;

  constructor(
    private readonly database: Database,
    private readonly events: EventLog,
  ) {}

  async save(sandbox: StoredSandbox, events: readonly NewEvent[] = []): Promise<void> {
    const values = {
      id: sandbox.id,
      template: JSON.stringify(sandbox.template),
      isolation: sandbox.isolation,
      status: sandbox.status,
      created_at: sandbox.createdAt.getTime(),
      timeout_seconds: sandbox.timeoutSeconds,
      expires_at: sandbox.expiresAt.getTime(),
      name: sandbox.name ?? null,
      metadata: JSON.stringify(sandbox.metadata),
      egress: JSON.stringify(sandbox.egress),
      mounts: sandbox.mounted.length === 0 ? null : JSON.stringify(sandbox.mounted),
      secrets:
        sandbox.secrets === undefined
          ? null
          : JSON.stringify({ authority: sandbox.authority, all: sandbox.secrets }),
      failure_reason: sandbox.failureReason ?? null,
      sleep: sandbox.sleep ? JSON.stringify({ ...sandbox.sleep, stopReason: sandbox.stopReason }) : null,
      idempotency_key: sandbox.idempotency?.key ?? null,
      request_digest: sandbox.idempotency?.requestDigest ?? null,
      key_id: sandbox.keyId ?? null,
      links_revoked_at: sandbox.linksRevokedAt?.getTime() ?? null,
      restores: sandbox.restores ?? null,
    };
    const columns = Object.keys(values);
    this.events.record(events, () =>
      this.database.run(
        `INSERT OR REPLACE INTO sandboxes (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
        Object.values(values),
      ),
    );
  }

  async list(): Promise<readonly StoredSandbox[]> {
    return this.database.all("SELECT * FROM sandboxes").map((row) => {
      try {
        return requireSound(readSandbox(row));
      } catch (cause) {
        throw new Error(`the record of sandbox ${String(row.id)} is damaged`, { cause });
      }
    });
  }

  async end(
    { id, end, createdAt, expiresAt, keyId }: StoredEnd,
    events: readonly NewEvent[] = [],
  ): Promise<void> {
    this.events.record(events, () => {
      this.database.run("DELETE FROM sandboxes WHERE id = ?", [id]);
      this.database.run(
        "INSERT OR REPLACE INTO ended_sandboxes (id, ended_as, created_at, expires_at, ended_at, key_id) VALUES (?, ?, ?, ?, ?, ?)",
        [id, end, createdAt.getTime(), expiresAt.getTime(), Date.now(), keyId ?? null],
      );
      this.database.run(
        "DELETE FROM ended_sandboxes WHERE rowid IN (SELECT rowid FROM ended_sandboxes ORDER BY ended_at DESC LIMIT -1 OFFSET ?)",
        [rememberedEnds],
      );
    });
  }

  findEnded(id: string): StoredEnd | undefined {
    const row = this.database.get("SELECT * FROM ended_sandboxes WHERE id = ?", [id]);
    return (
      row && {
        id,
        end: row.ended_as === "expired" ? "expired" : "deleted",
        createdAt: new Date(Number(row.created_at)),
        expiresAt: new Date(Number(row.expires_at)),
        keyId: typeof row.key_id === "string" ? row.key_id : undefined,
      }
    );
  }
}

export class MemorySandboxRepository implements SandboxRepository {
  readonly mustRecordDeletes = false;
  readonly #sandboxes = new Map<string, StoredSandbox>();
  readonly #ended = new Map<string, StoredEnd>();

  constructor(private readonly events: EventLog = new MemoryEventLog()) {}

  async save(sandbox: StoredSandbox, events: readonly NewEvent[] = []): Promise<void> {
    this.#sandboxes.set(sandbox.id, sandbox);
    this.events.record(events);
  }

  async list(): Promise<readonly StoredSandbox[]> {
    return [...this.#sandboxes.values()];
  }

  async end(ended: StoredEnd, events: readonly NewEvent[] = []): Promise<void> {
    this.events.record(events);
    this.#sandboxes.delete(ended.id);
    this.#ended.set(ended.id, ended);
    const oldest = this.#ended.keys().next();
    if (this.#ended.size > rememberedEnds && !oldest.done) this.#ended.delete(oldest.value);
  }

  findEnded(id: string): StoredEnd | undefined {
    return this.#ended.get(id);
  }
}

/** The fields without which a stored record counts as damaged. The other fields are optional or derived, and are not checked. */
const necessary = z.object({
  status: z.enum(["running", "paused", "stopped", "error"]),
  isolation: z.enum(isolationLevels),
  template: z.object({
    name: z.string(),
    languages: z.array(z.unknown()),
    limits: z.object({
      memoryMb: z.number(),
      diskMb: z.number(),
      vcpu: z.number(),
      maxProcesses: z.number(),
    }),
  }),
  metadata: z.record(z.string(), z.string()),
  egress: z.object({ internetAccess: z.boolean() }),
  createdAt: z.date(),
  expiresAt: z.date(),
});

/** The record. Throws if it is damaged. */
export function requireSound(sandbox: StoredSandbox): StoredSandbox {
  necessary.parse(sandbox);
  return sandbox;
}

function readSandbox(row: Row): StoredSandbox {
  const text = (name: string): string | undefined => (typeof row[name] === "string" ? row[name] : undefined);
  const key = text("idempotency_key");
  return {
    id: String(row.id),
    template: JSON.parse(String(row.template)) as LocalTemplate,
    isolation: row.isolation as IsolationLevel,
    status: row.status as StoredSandbox["status"],
    createdAt: new Date(Number(row.created_at)),
    timeoutSeconds: Number(row.timeout_seconds),
    expiresAt: new Date(Number(row.expires_at)),
    name: text("name"),
    metadata: JSON.parse(String(row.metadata)) as Record<string, string>,
    egress: JSON.parse(String(row.egress)) as RequestedEgress,
    mounted: JSON.parse(text("mounts") ?? "[]") as SandboxMount[],
    ...secretsIn(text("secrets")),
    failureReason: text("failure_reason"),
    ...sleepIn(text("sleep")),
    idempotency: key === undefined ? undefined : { key, requestDigest: text("request_digest") ?? "" },
    keyId: text("key_id"),
    ...(row.links_revoked_at !== null && { linksRevokedAt: new Date(Number(row.links_revoked_at)) }),
    ...(row.restores !== null && { restores: Number(row.restores) }),
  };
}

function sleepIn(text: string | undefined): Pick<StoredSandbox, "sleep" | "stopReason"> {
  if (text === undefined) return {};
  const { stopReason, ...sleep } = JSON.parse(text) as SleepSettings & { stopReason?: StopReason };
  return { sleep: { ...neverSleeps, ...sleep }, stopReason };
}

function secretsIn(text: string | undefined): Pick<StoredSandbox, "authority" | "secrets"> {
  if (text === undefined) return {};
  const { authority, all } = JSON.parse(text) as { authority?: string; all: StoredSecret[] };
  return { authority, secrets: all };
}
