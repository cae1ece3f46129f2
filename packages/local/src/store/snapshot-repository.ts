import type { SnapshotFacts } from "@cloud-sandbox/server-kit/handlers";
import type { LocalTemplate } from "../catalogue/template-catalogue.js";
import type { Database } from "./database.js";

/** The files of a sandbox as they were at one moment. */
export interface Snapshot extends SnapshotFacts {
  /** A copy, because the template may be deleted later. */
  readonly template: LocalTemplate;
  /** The name of the runtime of its sandbox. */
  readonly runtime: string;
  /** Whether the files are a machine's whole disk, with which only machines of the same runtime can begin. */
  readonly isDisk: boolean;
  /** The variables with placeholders of the sandbox's secrets, which nobody has any more. */
  readonly secretNames: readonly string[];
  /** Id of the API key of the sandbox. Undefined for the server's own key. */
  readonly keyId: string | undefined;
}

/** The records of snapshots. */
export class SnapshotRepository {
  constructor(private readonly database: Database) {}

  list(): readonly Snapshot[] {
    return this.database.all("SELECT record FROM snapshots").map(({ record }) => {
      const snapshot = JSON.parse(String(record));
      return { ...snapshot, createdAt: new Date(snapshot.createdAt) };
    });
  }

  add(snapshot: Snapshot): void {
    this.database.run("INSERT INTO snapshots (id, record) VALUES (?, ?)", [
      snapshot.id,
      JSON.stringify(snapshot),
    ]);
  }

  remove(id: string): void {
    this.database.run("DELETE FROM snapshots WHERE id = ?", [id]);
  }
}
