import type { OfferedSystem } from "../image-answer.js";
import type { ControlPlaneSchemas } from "../schemas.js";
import type { OwnLimits } from "./own-limits.js";

/** What a control plane knows of a template, as far as callers are told. */
export interface TemplateFacts {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly category: string;
  readonly limits: { readonly vcpu: number; readonly memoryMb: number; readonly diskMb: number };
  /** What a sandbox made of it asked for in place of its limits, which are those then. */
  readonly ownLimits?: OwnLimits;
  readonly languages: readonly { readonly language: string; readonly version: string | undefined }[];
  /** Undefined where there is none, or none is told. */
  readonly system?: OfferedSystem | undefined;
  /** The one that it is for; undefined where it is for all of them. */
  readonly language?: string | undefined;
  /** Of one that was built here. */
  readonly built?: BuiltFacts;
}

interface BuiltFacts {
  readonly status: "building" | "active" | "failed";
  readonly buildId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly fromImage: string;
  /** What is not as `fromImage` says: sentences for people. */
  readonly differences?: readonly string[];
  readonly startCommand: string | undefined;
}

export function templateListItemOnWire(
  template: TemplateFacts,
  packages: readonly string[],
): ControlPlaneSchemas["TemplateListItem"] {
  const { built } = template;
  const has = packages.length > 0 ? ` With ${packages.join(", ")}.` : "";
  return {
    id: template.id,
    object: "template",
    name: template.name,
    display_name: template.displayName,
    description: built ? template.description : template.description + has,
    category: template.category,
    language: template.language ?? "multi",
    status: built?.status ?? "active",
    is_active: !built || built.status === "active",
    is_public: !built,
    ...(built && { build_id: built.buildId, created_at: built.createdAt, updated_at: built.updatedAt }),
    default_resources: resourcesOnWire(template),
  };
}

export function templateOnWire(
  template: TemplateFacts,
  packages: readonly string[],
  requestId: string,
): ControlPlaneSchemas["Template"] {
  const resources = resourcesOnWire(template);
  const { languages, system, built } = template;
  return {
    ...templateListItemOnWire(template, packages),
    features: [
      ...languages.flatMap(({ language, version }) =>
        version === undefined ? [] : `${language} ${version}`,
      ),
      ...(system ? [`${system.id} ${system.version}`] : []),
      ...packages,
    ],
    tags: [
      ...languages.map(({ language }) => language),
      ...packages.map((name) => name.split(" ")[0] ?? "").map((name) => name.toLowerCase()),
    ],
    // Without its steps: they hold the values of variables.
    ...(built && {
      fluent_api_config: { from_image: built.fromImage, startCmd: built.startCommand ?? null },
      differences: [...(built.differences ?? [])],
    }),
    min_resources: resources,
    max_resources: resources,
    request_id: requestId,
  };
}

function resourcesOnWire({ limits }: TemplateFacts): ControlPlaneSchemas["TemplateResources"] {
  return {
    vcpu: Math.ceil(limits.vcpu),
    memory_mb: limits.memoryMb,
    disk_gb: Math.max(1, Math.round(limits.diskMb / 1024)),
  };
}
