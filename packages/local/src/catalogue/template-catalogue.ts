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
  /** What a sandbox made of it asked for in place of its limits, which are those then. */
  readonly ownLimits?: OwnLimits;
  readonly languages: readonly HostLanguage[];
  readonly system?: OfferedSystem | undefined;
  /** The one that it is for; undefined where it is for all of them. */
  readonly language?: string | undefined;
  /** What was built here; undefined for the templates that are this machine itself. */
  readonly built?: BuiltTemplate;
}

export interface BuiltTemplate {
  readonly status: "building" | "active" | "failed";
  readonly buildId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly fromImage: string;
  /** What is not as its image's name says: sentences for people. */
  readonly differences: readonly string[];
  /** Host directories, lowest first. */
  readonly layers: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Where its start command runs. */
  readonly workdir: string;
  readonly startCommand: string | undefined;
  readonly readyCheck: ReadyCheck | undefined;
}

/** The templates of this machine. Sandboxes see its own `/usr`, so what they hold is what is installed here. */
export class TemplateCatalogue {
  readonly #built = new Map<string, LocalTemplate>();
  #packages: Promise<readonly string[]> | undefined;

  private constructor(private readonly own: readonly LocalTemplate[]) {}

  static async open(limits: MachineLimits): Promise<TemplateCatalogue> {
    const [languages, system] = await Promise.all([findHostLanguages(), findHostSystem()]);
    const inWords = languages.map(({ language, version }) => `${language} ${version}`).join(", ");
    return new TemplateCatalogue([
      {
        id: "20",
        name: "code-interpreter",
        displayName: "Code interpreter",
        description: `Runs code in any language of this machine: ${inWords}.`,
        category: "development",
        limits,
        languages,
        system,
      },
      {
        id: "1",
        name: "base",
        displayName: "Base",
        description: `A plain shell with the programs of this machine: ${inWords}.`,
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

  /** By name or by id: clients use either. */
  find(nameOrId: string): LocalTemplate | undefined {
    return this.list().find(({ id, name }) => name === nameOrId || id === nameOrId);
  }

  named(wanted: string): LocalTemplate | undefined {
    return this.list().find(({ name }) => name === wanted);
  }

  /** Adds a template that was built, or replaces the one of its id. */
  put(template: LocalTemplate): void {
    this.#built.set(template.id, template);
  }

  remove(id: string): void {
    this.#built.delete(id);
  }

  /** Notable packages, each with its version, that every template has. Looked for when first asked for. */
  packages(): Promise<readonly string[]> {
    this.#packages ??= installedPackages();
    return this.#packages;
  }
}
