import type { Database } from "./database.js";
import type { Settings } from "./settings.js";

/** The settings in the database. */
export class SettingsRepository implements Settings {
  constructor(private readonly database: Database) {}

  async once(name: string, choose: () => string | Promise<string>): Promise<string> {
    const { value } = this.database.get("SELECT value FROM settings WHERE name = ?", [name]) ?? {};
    if (typeof value === "string") return value;
    const chosen = await choose();
    this.set(name, chosen);
    return chosen;
  }

  set(name: string, value: string): void {
    this.database.run(
      "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      [name, value],
    );
  }
}
