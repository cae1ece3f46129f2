import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { asText, date } from "../transport/answer-fields.js";

/** State of a template. Sandboxes can be created from an `active` one. */
export type TemplateStatus = ControlPlaneSchemas["TemplateStatus"];

/** A template, from which sandboxes are created. */
export interface TemplateRecord {
  /** Id of the template: a number, as text. */
  id: string;
  name: string;
  displayName: string | undefined;
  description: string | undefined;
  category: string | undefined;
  language: string | undefined;
  status: TemplateStatus | undefined;
  /** Whether sandboxes can be created from the template. */
  isActive: boolean | undefined;
  isPublic: boolean | undefined;
  /** Default resources of sandboxes made from the template: processors, memory in MiB, disk in GiB. */
  resources: { vcpu: number | undefined; memoryMb: number | undefined; diskGb: number | undefined };
  /** Features of sandboxes made from the template. Only `get` returns them. */
  features: string[];
  /** What differs from the image that the template is of, in sentences for people. Only `get` and `import` return them. */
  differences: string[];
  /** Stored secrets that its sandboxes have. Only `get` and `build` return them. */
  secrets: { name: string; from: string }[];
  createdAt: Date | undefined;
  updatedAt: Date | undefined;
}

export function templateRecord(wire: ControlPlaneSchemas["Template"]): TemplateRecord {
  const { default_resources: resources } = wire;
  return {
    id: wire.id,
    name: wire.name,
    displayName: wire.display_name,
    description: wire.description,
    category: wire.category,
    language: wire.language,
    status: wire.status,
    isActive: wire.is_active,
    isPublic: wire.is_public,
    resources: { vcpu: resources?.vcpu, memoryMb: resources?.memory_mb, diskGb: resources?.disk_gb },
    features: (wire.features ?? []).map(asText),
    differences: (wire.differences ?? []).map(asText),
    secrets: Object.entries(wire.secrets ?? {}).map(([name, { from }]) => ({ name, from })),
    createdAt: date(wire.created_at),
    updatedAt: date(wire.updated_at),
  };
}
