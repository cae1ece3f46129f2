import type { Database } from "./database.js";

/** Values that a server chooses once and keeps: the API key and the key that signs tokens. */
export interface Settings {
  /** The value of that name. */
  find(name: string): Promise<string | undefined>;
  /** The value of that name. If there is none, `choose` makes it and it is saved. */
  once(name: string, choose: () => string | Promise<string>): Promise<string>;
}

/** The settings in the database. */
export class SettingsRepository implements Settings {
  constructor(private readonly database: Database) {}

  async find(name: string): Promise<string | undefined> {
    const { value } = this.database.get("SELECT value FROM settings WHERE name = ?", [name]) ?? {};
    return typeof value === "string" ? value : undefined;
  }

  async once(name: string, choose: () => string | Promise<string>): Promise<string> {
    const value = await this.find(name);
    if (value !== undefined) return value;
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
