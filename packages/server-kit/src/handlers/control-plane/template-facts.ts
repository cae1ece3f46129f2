import type { ControlPlaneSchemas, OfferedSystem } from "@cloud-sandbox/protocol";

/** The facts about a template that callers may see. */
export interface TemplateFacts {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  /** Of less than 60 characters: HOPX's CLI breaks lists of templates at 80 columns, within the JSON. */
  readonly description: string;
  /** Sentences for people that follow the description where the template is shown alone. */
  readonly details?: string | undefined;
  readonly category: string;
  readonly limits: { readonly vcpu: number; readonly memoryMb: number; readonly diskMb: number };
  /** Limits that a create request asked for in place of the template's. If set, `limits` already contains them. */
  readonly ownLimits?: OwnLimits;
  readonly languages: readonly { readonly language: string; readonly version: string | undefined }[];
  /** The operating system of the template. Undefined if it has none, or none is reported. */
  readonly system?: OfferedSystem | undefined;
  /** The language that the template is for. Undefined if it is for all languages. */
  readonly language?: string | undefined;
  /** Set for a template that was built on this server. */
  readonly built?: BuiltFacts;
}

interface BuiltFacts {
  readonly status: "building" | "active" | "failed";
  readonly buildId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly fromImage: string;
  /** Sentences for people, one for each difference between the template and the image that `fromImage` names. */
  readonly differences?: readonly string[];
  readonly startCommand: string | undefined;
  /** Stored secrets that its sandboxes have, by variable. */
  readonly secrets?: ControlPlaneSchemas["NamedSecrets"] | undefined;
  /** Whether the template is an imported image, which has nothing of this machine. */
  readonly isImage?: boolean | undefined;
}

/** Limits that a create request asked for in place of the template's. */
export interface OwnLimits {
  readonly memoryMb?: number;
  readonly vcpu?: number;
}

/** The template with its limits replaced by those that a create request asked for. */
export function withOwnLimits<Template extends TemplateFacts>(
  template: Template,
  own: OwnLimits | undefined,
): Template {
  if (own === undefined) return template;
  return { ...template, limits: { ...template.limits, ...own }, ownLimits: own };
}

export function ownLimitsOf(wire: ControlPlaneSchemas["SandboxLimits"] | undefined): OwnLimits | undefined {
  if (wire === undefined) return undefined;
  const { memory_mb: memoryMb, vcpu } = wire;
  return { ...(memoryMb !== undefined && { memoryMb }), ...(vcpu !== undefined && { vcpu }) };
}

export function ownLimitsOnWire({ memoryMb, vcpu }: OwnLimits): ControlPlaneSchemas["SandboxLimits"] {
  return { ...(memoryMb !== undefined && { memory_mb: memoryMb }), ...(vcpu !== undefined && { vcpu }) };
}
