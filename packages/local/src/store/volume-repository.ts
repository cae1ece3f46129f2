import type { Database } from "./database.js";

/** A directory of limited size that outlives the sandboxes that mount it. */
export interface Volume {
  readonly id: string;
  readonly name: string;
  readonly sizeMb: number;
  readonly createdAt: Date;
  /** Id of the API key that created the volume. Undefined for the server's own key. */
  readonly keyId: string | undefined;
}

/** The records of volumes. */
export class VolumeRepository {
  constructor(private readonly database: Database) {}

  list(): readonly Volume[] {
    return this.database.all("SELECT * FROM volumes ORDER BY created_at, id").map((row) => ({
      id: String(row.id),
      name: String(row.name),
      sizeMb: Number(row.size_mb),
      createdAt: new Date(Number(row.created_at)),
      keyId: typeof row.key_id === "string" ? row.key_id : undefined,
    }));
  }

  add({ id, name, sizeMb, createdAt, keyId }: Volume): void {
    this.database.run("INSERT INTO volumes (id, name, size_mb, created_at, key_id) VALUES (?, ?, ?, ?, ?)", [
      ...[id, name, sizeMb, createdAt.getTime()],
      keyId ?? null,
    ]);
  }

  remove(id: string): void {
    this.database.run("DELETE FROM volumes WHERE id = ?", [id]);
  }
}
