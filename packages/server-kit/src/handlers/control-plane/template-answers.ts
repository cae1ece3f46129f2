import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { TemplateFacts } from "./template-facts.js";

/** `asked`: the language that the list was asked for, which a template of several languages is shown with. */
export function templateListItemOnWire(
  template: TemplateFacts,
  asked = "multi",
): ControlPlaneSchemas["TemplateListItem"] {
  const { built } = template;
  return {
    id: template.id,
    object: "template",
    name: template.name,
    display_name: template.displayName,
    description: template.description,
    category: template.category,
    language: template.language ?? asked,
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
  const { description, details, languages, system, built } = template;
  const has = !built && packages.length > 0 ? `With ${packages.join(", ")}.` : undefined;
  return {
    ...templateListItemOnWire(template),
    description: [description, details, has].filter((sentence) => sentence !== undefined).join(" "),
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
    // The build steps are left out, because they contain values of variables.
    ...(built && {
      fluent_api_config: { from_image: built.fromImage, startCmd: built.startCommand ?? null },
      differences: [...(built.differences ?? [])],
      ...(built.secrets && { secrets: built.secrets }),
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
