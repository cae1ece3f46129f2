import { chmod, open, rm } from "node:fs/promises";
import type { Database as SqliteDatabase, Statement } from "node-sqlite3-wasm";
import { migrations } from "./migrations.js";
import { isUnwritable, storageFull } from "./storage-problem.js";

export type SqlValue = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, SqlValue>>;

/**
 * One SQLite database, in a file or in memory. Calls are synchronous and commit before they return, so a change is on the
 * disk before the HTTP answer that acknowledges it is sent. A write that fails (a full disk, for example) throws a 507
 * problem and changes nothing.
 */
export class Database {
  readonly #statements = new Map<string, Statement>();
  #waitsForDisk = true;

  private constructor(private readonly sqlite: SqliteDatabase) {}

  /** The caller must own the file: see {@link DataDirectory}. Without a path the database is in memory. */
  static async open(path?: string): Promise<Database> {
    // Load SQLite on demand, because it takes 15 ms and 25 MB.
    const { default: wasm } = await import("node-sqlite3-wasm");
    if (path !== undefined) await prepareFile(path);
    const sqlite = new wasm.Database(path ?? ":memory:");
    // Take an exclusive lock: without one, WAL mode needs shared memory, which this WebAssembly build lacks.
    sqlite.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    // Moving the log into the database waits for the disk, and stops everything meanwhile: do so after 16 MiB, not 4.
    sqlite.exec("PRAGMA wal_autocheckpoint = 4000");
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
    if (!this.sqlite.inTransaction) this.#waitForDisk(true);
    this.#run(sql, values);
  }

  /** Like {@link run}, but does not wait for the disk; see {@link unflushed}. */
  runUnflushed(sql: string, values: readonly SqlValue[] = []): void {
    if (!this.sqlite.inTransaction) this.#waitForDisk(false);
    this.#run(sql, values);
  }

  #run(sql: string, values: readonly SqlValue[] = []): void {
    this.#using(sql, (statement) => statement.run([...values]));
  }

  all(sql: string, values: readonly SqlValue[] = []): readonly Row[] {
    return this.#using(sql, (statement) => statement.all([...values])) as Row[];
  }

  get(sql: string, values: readonly SqlValue[] = []): Row | undefined {
    return (this.#using(sql, (statement) => statement.get([...values])) as Row | null) ?? undefined;
  }

  /** Commits all writes of `work` or none of them, even if the process is killed halfway. */
  transaction<Result>(work: () => Result): Result {
    return this.#transaction(work, true);
  }

  #transaction<Result>(work: () => Result, waitsForDisk: boolean): Result {
    // Within another one it is a part of that.
    if (this.sqlite.inTransaction) return work();
    try {
      this.#waitForDisk(waitsForDisk);
      this.#run("BEGIN IMMEDIATE");
      const result = work();
      this.#run("COMMIT");
      return result;
    } catch (error) {
      if (this.sqlite.inTransaction) this.sqlite.exec("ROLLBACK");
      throw isUnwritable(error) ? storageFull(error) : error;
    }
  }

  /**
   * Like {@link transaction}, but does not wait for the disk: nothing is lost if this process is killed, and the last writes if the
   * machine fails.
   */
  unflushed<Result>(work: () => Result): Result {
    return this.#transaction(work, false);
  }

  /** Whether the next commits wait until they are on the disk. */
  #waitForDisk(waitsForDisk: boolean): void {
    if (this.#waitsForDisk === waitsForDisk) return;
    this.sqlite.exec(`PRAGMA synchronous = ${waitsForDisk ? "FULL" : "NORMAL"}`);
    this.#waitsForDisk = waitsForDisk;
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
      // SQLite repeats the error of a failed statement at its next use: drop the statement.
      this.#statements.delete(sql);
      finalize(statement);
      throw isUnwritable(error) ? storageFull(error) : error;
    }
  }

  /** Throws if the file is damaged, so that the start fails and not a later request. */
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
      throw new Error(
        "it was written by a newer version of cloud-sandbox-local, and this version cannot read it",
      );
    }
  }
}

/** Frees a failed statement. SQLite reports the statement's error again here; the caller already has it. */
function finalize(statement: Statement): void {
  try {
    statement.finalize();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "SQLite3Error") throw error;
  }
}

async function prepareFile(path: string): Promise<void> {
  await (await open(path, "a", 0o600)).close();
  // This SQLite build locks with a `.lock` directory, which a killed process leaves behind. DataDirectory already made
  // sure that no other process uses the file, so the directory can go.
  await rm(`${path}.lock`, { recursive: true, force: true });
}
