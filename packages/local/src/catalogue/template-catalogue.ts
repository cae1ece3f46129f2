import type { OfferedSystem } from "@cloud-sandbox/protocol";
import type { OwnLimits } from "@cloud-sandbox/server-kit/handlers";
import type { MachineLimits } from "../runtime/sandbox-runtime.js";
import { findHostLanguages, type HostLanguage } from "./host-languages.js";
import { findHostSystem } from "./host-system.js";
import { installedPackages } from "./installed-packages.js";
import type { ReadyCheck } from "./ready-check.js";

export interface LocalTemplate {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly category: string;
  readonly limits: MachineLimits;
  /** Set on the copy of a template that belongs to a sandbox which asked for its own limits; `limits` includes them. */
  readonly ownLimits?: OwnLimits;
  readonly languages: readonly HostLanguage[];
  readonly system?: OfferedSystem | undefined;
  /** The only language of the template; undefined if it has all languages. */
  readonly language?: string | undefined;
  /** Set for templates that were built on this machine; undefined for the two default templates, which show the host itself. */
  readonly built?: BuiltTemplate;
}

export interface BuiltTemplate {
  readonly status: "building" | "active" | "failed";
  readonly buildId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly fromImage: string;
  /** Sentences for people: how the template differs from the image it names. */
  readonly differences: readonly string[];
  /** Host directories, the lowest layer first. */
  readonly layers: readonly string[];
  /** Whether the lowest layer is all files of an imported image. */
  readonly isImage?: boolean | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** The directory in which the start command runs. */
  readonly workdir: string;
  readonly startCommand: string | undefined;
  readonly readyCheck: ReadyCheck | undefined;
}

/** The templates of this machine. Sandboxes see the host's `/usr`, so the default templates hold what the host has installed. */
export class TemplateCatalogue {
  readonly #built = new Map<string, LocalTemplate>();
  #packages: Promise<readonly string[]> | undefined;

  private constructor(private readonly own: readonly LocalTemplate[]) {}

  static async open(limits: MachineLimits): Promise<TemplateCatalogue> {
    const [languages, system] = await Promise.all([findHostLanguages(), findHostSystem()]);
    const languageList = languages.map(({ language, version }) => `${language} ${version}`).join(", ");
    return new TemplateCatalogue([
      {
        id: "20",
        name: "code-interpreter",
        displayName: "Code interpreter",
        description: `Runs code in any language of this machine: ${languageList}.`,
        category: "development",
        limits,
        languages,
        system,
      },
      {
        id: "1",
        name: "base",
        displayName: "Base",
        description: `A plain shell with the programs of this machine: ${languageList}.`,
        category: "operating-system",
        limits,
        languages,
        system,
      },
    ]);
  }

  list(): readonly LocalTemplate[] {
    return [...this.own, ...this.#built.values()];
  }

  /** Finds a template by name or id: clients use either. */
  find(nameOrId: string): LocalTemplate | undefined {
    return this.list().find(({ id, name }) => name === nameOrId || id === nameOrId);
  }

  named(wanted: string): LocalTemplate | undefined {
    return this.list().find(({ name }) => name === wanted);
  }

  /** Adds a built template, or replaces the one with the same id. */
  put(template: LocalTemplate): void {
    this.#built.set(template.id, template);
  }

  remove(id: string): void {
    this.#built.delete(id);
  }

  /** The notable packages of the host, which every template has, each with its version. Found by the first call. */
  packages(): Promise<readonly string[]> {
    this.#packages ??= installedPackages();
    return this.#packages;
  }
}
