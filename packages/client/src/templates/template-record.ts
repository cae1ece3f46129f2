import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { date } from "../transport/answers/date.js";
import { asText } from "../transport/answers/required-fields.js";

/** How far a template is; sandboxes are made from those that are `active`. */
export type TemplateStatus = ControlPlaneSchemas["TemplateStatus"];

/** What sandboxes are made from. */
export interface TemplateRecord {
  /** A number, as text. */
  id: string;
  name: string;
  displayName: string | undefined;
  description: string | undefined;
  category: string | undefined;
  language: string | undefined;
  status: TemplateStatus | undefined;
  /** Whether sandboxes can be made from it. */
  isActive: boolean | undefined;
  isPublic: boolean | undefined;
  /** What its sandboxes may use. */
  resources: { vcpu: number | undefined; memoryMb: number | undefined; diskGb: number | undefined };
  /** What its sandboxes can do; only `get` tells. */
  features: string[];
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
    createdAt: date(wire.created_at),
    updatedAt: date(wire.updated_at),
  };
}
