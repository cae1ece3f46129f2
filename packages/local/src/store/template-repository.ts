import type { BuildRecord } from "@cloud-sandbox/server-kit/handlers";
import type { LocalTemplate } from "../catalogue/template-catalogue.js";
import type { Database, SqlValue } from "./database.js";

const rememberedBuilds = 200;

/** Templates that were built on this machine, and their builds. */
export class TemplateRepository {
  constructor(private readonly database: Database) {}

  templates(): readonly LocalTemplate[] {
    return this.database
      .all("SELECT record FROM templates ORDER BY CAST(id AS INTEGER)")
      .map(({ record }) => readRecord("template", record) as LocalTemplate);
  }

  saveTemplate(template: LocalTemplate): void {
    this.database.run("INSERT OR REPLACE INTO templates (id, record) VALUES (?, ?)", [
      template.id,
      JSON.stringify(template),
    ]);
  }

  /** Saves a build that has begun. `placeholder` is the template in status `building`, shown until the build ends. */
  begin(build: BuildRecord, placeholder: LocalTemplate | undefined): void {
    this.database.transaction(() => {
      if (placeholder) this.saveTemplate(placeholder);
      this.saveBuild(build);
    });
  }

  removeTemplate(id: string): void {
    this.database.run("DELETE FROM templates WHERE id = ?", [id]);
  }

  builds(): readonly BuildRecord[] {
    return this.database
      .all("SELECT record, log FROM template_builds ORDER BY id")
      .map(({ record, log }) => ({
        ...(readRecord("build", record) as Omit<BuildRecord, "log">),
        log: String(log),
      }));
  }

  saveBuild({ log, ...record }: BuildRecord): void {
    this.database.run("INSERT OR REPLACE INTO template_builds (id, record, log) VALUES (?, ?, ?)", [
      Number(record.id),
      JSON.stringify(record),
      log,
    ]);
    this.database.run(
      "DELETE FROM template_builds WHERE id IN (SELECT id FROM template_builds ORDER BY id DESC LIMIT -1 OFFSET ?)",
      [rememberedBuilds],
    );
  }
}

function readRecord(kind: string, record: SqlValue | undefined): unknown {
  try {
    return JSON.parse(String(record));
  } catch (cause) {
    throw new Error(`the record of a ${kind} is damaged`, { cause });
  }
}
