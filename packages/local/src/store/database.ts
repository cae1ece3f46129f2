import { chmod, open, rm } from "node:fs/promises";
import type { Database as SqliteDatabase, Statement } from "node-sqlite3-wasm";
import { migrations } from "./migrations.js";

export type SqlValue = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, SqlValue>>;

/**
 * One SQLite file, or one in memory. Everything is synchronous and committed when a call returns: what an answer
 * acknowledges is on the disk before it is sent.
 */
export class Database {
  readonly #statements = new Map<string, Statement>();

  private constructor(private readonly sqlite: SqliteDatabase) {}

  /** The caller must own the file: see {@link DataDirectory}. Without a path the database ends with this object. */
  static async open(path?: string): Promise<Database> {
    // Loaded on demand, since it takes 15 ms and 25 MB.
    const { default: wasm } = await import("node-sqlite3-wasm");
    if (path !== undefined) await prepareFile(path);
    const sqlite = new wasm.Database(path ?? ":memory:");
    // Of one owner, so that the log's index can be in memory, where this SQLite has no shared one.
    sqlite.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    const database = new Database(sqlite);
    database.#migrate();
    if (path !== undefined) await chmod(`${path}-wal`, 0o600);
    return database;
  }

  run(sql: string, values: readonly SqlValue[] = []): void {
    this.#prepared(sql).run([...values]);
  }

  all(sql: string, values: readonly SqlValue[] = []): readonly Row[] {
    return this.#prepared(sql).all([...values]) as Row[];
  }

  get(sql: string, values: readonly SqlValue[] = []): Row | undefined {
    return (this.#prepared(sql).get([...values]) as Row | null) ?? undefined;
  }

  /** All of it or nothing, also when the process is killed in between. */
  transaction<Result>(work: () => Result): Result {
    this.sqlite.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.sqlite.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.sqlite.inTransaction) this.sqlite.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#statements.clear();
    this.sqlite.close();
  }

  #prepared(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.sqlite.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #migrate(): void {
    this.sqlite.exec("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)");
    const applied = new Set(this.sqlite.all("SELECT name FROM migrations").map((row) => row.name));
    for (const { name, sql } of migrations) {
      if (applied.delete(name)) continue;
      this.transaction(() => {
        this.sqlite.exec(sql);
        this.sqlite.run("INSERT INTO migrations (name) VALUES (?)", [name]);
      });
    }
    if (applied.size > 0) {
      throw new Error(
        "The data directory was written by a newer version of cloud-sandbox-local. Use that one, or another directory.",
      );
    }
  }
}

async function prepareFile(path: string): Promise<void> {
  await (await open(path, "a", 0o600)).close();
  // How this SQLite locks a file: it stays when the process is killed. Who may open the file is decided before.
  await rm(`${path}.lock`, { recursive: true, force: true });
}
