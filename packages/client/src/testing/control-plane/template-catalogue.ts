import type { TemplateFacts } from "@cloud-sandbox/server-kit/handlers";
import { templateNotFound } from "@cloud-sandbox/server-kit/handlers";
import { languageNames } from "../agent/execution-handlers.js";
import type { MemoryFiles } from "../memory/memory-files.js";

export interface MemoryTemplate extends TemplateFacts {
  /** What sandboxes made from a built template start with. */
  readonly content?: {
    readonly files: MemoryFiles;
    readonly environment: Readonly<Record<string, string>>;
    readonly workdir: string;
  };
}

const limits = { vcpu: 1, memoryMb: 2048, diskMb: 10_240 };
const languages = languageNames.map((language) => ({ language, version: undefined }));

const own: readonly MemoryTemplate[] = [
  {
    id: "20",
    name: "code-interpreter",
    displayName: "Code interpreter",
    description: "Runs what the test says.",
    category: "development",
    limits,
    languages,
  },
  {
    id: "1",
    name: "base",
    displayName: "Base",
    description: "Runs what the test says.",
    category: "operating-system",
    limits,
    languages,
  },
  {
    id: "399",
    name: "desktop",
    displayName: "Desktop",
    description: "Runs what the test says, and has a desktop.",
    category: "desktop",
    limits,
    languages,
  },
];

/** The templates of a service: three built-in ones, and those that tests build. */
export class TemplateCatalogue {
  readonly #built = new Map<string, MemoryTemplate>();

  list(): readonly MemoryTemplate[] {
    return [...own, ...this.#built.values()];
  }

  find(nameOrId: string): MemoryTemplate | undefined {
    return this.list().find(({ id, name }) => name === nameOrId || id === nameOrId);
  }

  named(wanted: string): MemoryTemplate | undefined {
    return this.list().find(({ name }) => name === wanted);
  }

  /** Throws if there is no such template. */
  get(nameOrId: string): MemoryTemplate {
    const template = this.find(nameOrId);
    if (template) return template;
    throw templateNotFound(
      nameOrId,
      this.list().map(({ name }) => name),
    );
  }

  async packages(): Promise<readonly string[]> {
    return [];
  }

  put(template: MemoryTemplate): void {
    this.#built.set(template.id, template);
  }

  remove(id: string): void {
    this.#built.delete(id);
  }
}
