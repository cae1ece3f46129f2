export interface Migration {
  /** Written to the database once the step is applied, so a released name must never change. */
  readonly name: string;
  readonly sql: string;
}

/** The steps from an empty file to today's tables, in order. Never change a released step; append new ones. */
export const migrations: readonly Migration[] = [
  {
    name: "settings",
    sql: "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
  },
  {
    name: "sandboxes",
    sql: `
      CREATE TABLE sandboxes (
        id TEXT PRIMARY KEY,
        template TEXT NOT NULL,
        isolation TEXT NOT NULL,
        status TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        timeout_seconds INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        name TEXT,
        metadata TEXT NOT NULL,
        egress TEXT NOT NULL,
        failure_reason TEXT,
        idempotency_key TEXT,
        request_digest TEXT
      ) STRICT;
      CREATE TABLE ended_sandboxes (
        id TEXT PRIMARY KEY,
        ended_as TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        ended_at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX ended_sandboxes_by_age ON ended_sandboxes (ended_at)`,
  },
  {
    name: "webhook_deliveries",
    sql: `
      CREATE TABLE webhook_deliveries (
        id TEXT PRIMARY KEY,
        sandbox_id TEXT NOT NULL,
        execution_id TEXT NOT NULL,
        callback_url TEXT NOT NULL,
        headers TEXT NOT NULL,
        secret TEXT,
        status TEXT NOT NULL,
        payload TEXT,
        payload_bytes INTEGER NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL,
        queued_at INTEGER,
        attempts INTEGER NOT NULL DEFAULT 0,
        next_attempt_at INTEGER,
        last_attempt_at INTEGER,
        response_status INTEGER,
        error TEXT
      ) STRICT;
      CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (status, id)`,
  },
  {
    name: "templates",
    sql: `
      CREATE TABLE templates (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
      CREATE TABLE template_builds (id INTEGER PRIMARY KEY, record TEXT NOT NULL, log TEXT NOT NULL) STRICT`,
  },
  {
    name: "api_keys",
    sql: `
      CREATE TABLE api_keys (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        digest TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER,
        max_sandboxes INTEGER,
        revoked_at INTEGER,
        last_used_at INTEGER
      ) STRICT;
      ALTER TABLE sandboxes ADD COLUMN key_id TEXT;
      ALTER TABLE ended_sandboxes ADD COLUMN key_id TEXT`,
  },
  {
    name: "volumes",
    sql: `
      CREATE TABLE volumes (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        size_mb INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        key_id TEXT
      ) STRICT;
      ALTER TABLE sandboxes ADD COLUMN mounts TEXT`,
  },
  {
    name: "priority_classes",
    sql: "ALTER TABLE api_keys ADD COLUMN priority_class TEXT",
  },
  {
    name: "keys_of_deliveries",
    sql: "ALTER TABLE webhook_deliveries ADD COLUMN key_id TEXT",
  },
  {
    name: "secrets",
    sql: "ALTER TABLE sandboxes ADD COLUMN secrets TEXT",
  },
  {
    name: "sleep",
    sql: "ALTER TABLE sandboxes ADD COLUMN sleep TEXT",
  },
  {
    name: "events",
    sql: `
      CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        type TEXT NOT NULL,
        sandbox_id TEXT,
        key_id TEXT,
        facts TEXT NOT NULL
      ) STRICT;
      CREATE INDEX events_by_sandbox ON events (sandbox_id, id);
      CREATE TABLE gone_events (key_id TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT`,
  },
  {
    name: "revoked_links",
    sql: "ALTER TABLE sandboxes ADD COLUMN links_revoked_at INTEGER",
  },
  {
    name: "webhook_subscriptions",
    sql: `
      CREATE TABLE webhook_subscriptions (
        id TEXT PRIMARY KEY,
        key_id TEXT,
        url TEXT NOT NULL,
        secret TEXT,
        types TEXT,
        sandbox_id TEXT,
        cursor INTEGER NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT;
      ALTER TABLE webhook_deliveries ADD COLUMN subscription_id TEXT`,
  },
  {
    name: "stored_secrets",
    sql: `
      CREATE TABLE stored_secrets (
        name TEXT NOT NULL,
        key_id TEXT NOT NULL,
        record TEXT NOT NULL,
        PRIMARY KEY (name, key_id)
      ) STRICT`,
  },
  {
    name: "snapshots",
    sql: "CREATE TABLE snapshots (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT",
  },
  {
    name: "restored_sandboxes",
    sql: "ALTER TABLE sandboxes ADD COLUMN restores INTEGER",
  },
];
