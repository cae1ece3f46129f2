import { chmod, open, rm } from "node:fs/promises";
import type { Database as SqliteDatabase, Statement } from "node-sqlite3-wasm";
import { migrations } from "./migrations.js";
import { isUnwritable, storageFull } from "./storage-problem.js";

export type SqlValue = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, SqlValue>>;

/**
 * One SQLite file, or one in memory. Everything is synchronous and committed when a call returns: what an answer
 * acknowledges is on the disk before it is sent. What cannot be written, for want of room say, throws a 507 problem and
 * has changed nothing.
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
    try {
      if (path !== undefined) database.#requireSound();
      database.#migrate();
      if (path !== undefined) await chmod(`${path}-wal`, 0o600);
    } catch (error) {
      sqlite.close();
      throw error;
    }
    return database;
  }

  run(sql: string, values: readonly SqlValue[] = []): void {
    this.#using(sql, (statement) => statement.run([...values]));
  }

  all(sql: string, values: readonly SqlValue[] = []): readonly Row[] {
    return this.#using(sql, (statement) => statement.all([...values])) as Row[];
  }

  get(sql: string, values: readonly SqlValue[] = []): Row | undefined {
    return (this.#using(sql, (statement) => statement.get([...values])) as Row | null) ?? undefined;
  }

  /** All of it or nothing, also when the process is killed in between. */
  transaction<Result>(work: () => Result): Result {
    try {
      this.sqlite.exec("BEGIN IMMEDIATE");
      const result = work();
      this.sqlite.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.sqlite.inTransaction) this.sqlite.exec("ROLLBACK");
      throw isUnwritable(error) ? storageFull(error) : error;
    }
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#statements.clear();
    this.sqlite.close();
  }

  #using<Result>(sql: string, use: (statement: Statement) => Result): Result {
    const statement = this.#statements.get(sql) ?? this.sqlite.prepare(sql);
    this.#statements.set(sql, statement);
    try {
      return use(statement);
    } catch (error) {
      // It would fail once more, whatever it is used for next, because of what has just failed.
      this.#statements.delete(sql);
      finalize(statement);
      throw isUnwritable(error) ? storageFull(error) : error;
    }
  }

  /** What is damaged would otherwise show later, in the middle of somebody's work. */
  #requireSound(): void {
    const { quick_check: found } = this.sqlite.get("PRAGMA quick_check(1)") ?? {};
    if (found !== "ok") throw new Error(`database disk image is malformed: ${String(found)}`);
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
      throw new Error("it was written by a newer version of cloud-sandbox-local, which alone can read it");
    }
  }
}

/** Tells of the last failure of the statement, which is known. */
function finalize(statement: Statement): void {
  try {
    statement.finalize();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "SQLite3Error") throw error;
  }
}

async function prepareFile(path: string): Promise<void> {
  await (await open(path, "a", 0o600)).close();
  // How this SQLite locks a file: it stays when the process is killed. Who may open the file is decided before.
  await rm(`${path}.lock`, { recursive: true, force: true });
}
