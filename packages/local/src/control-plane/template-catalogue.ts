import type { MachineLimits } from "../runtime/sandbox-runtime.js";
import { findHostLanguages, type HostLanguage } from "./host-languages.js";

export interface LocalTemplate {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly category: string;
  readonly limits: MachineLimits;
  readonly languages: readonly HostLanguage[];
}

/** The templates of this machine. Sandboxes see its own `/usr`, so what they hold is what is installed here. */
export class TemplateCatalogue {
  private constructor(private readonly templates: readonly LocalTemplate[]) {}

  static async open(limits: MachineLimits): Promise<TemplateCatalogue> {
    const languages = await findHostLanguages();
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
      },
      {
        id: "1",
        name: "base",
        displayName: "Base",
        description: `A plain shell with the programs of this machine: ${inWords}.`,
        category: "operating-system",
        limits,
        languages,
      },
    ]);
  }

  list(): readonly LocalTemplate[] {
    return this.templates;
  }

  /** By name or by id: clients use either. */
  find(nameOrId: string): LocalTemplate | undefined {
    return this.templates.find(({ id, name }) => name === nameOrId || id === nameOrId);
  }
}
