import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { OwnLimits, TemplateFacts } from "./template-facts.js";

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
