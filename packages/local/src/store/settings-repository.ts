import type { Database } from "./database.js";

/** Values chosen once and kept in the database: the API key and the key that signs tokens. */
export class SettingsRepository {
  constructor(private readonly database: Database) {}

  get(name: string): string | undefined {
    const value = this.database.get("SELECT value FROM settings WHERE name = ?", [name])?.value;
    return typeof value === "string" ? value : undefined;
  }

  set(name: string, value: string): void {
    this.database.run(
      "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      [name, value],
    );
  }
}
