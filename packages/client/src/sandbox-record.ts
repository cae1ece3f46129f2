import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";

type WireSandbox = ControlPlaneSchemas["Sandbox"];

export type SandboxStatus = ControlPlaneSchemas["SandboxStatus"];
/** From weakest to strongest: `namespace`, `container`, `gvisor`, `microvm`. */
export type Isolation = ControlPlaneSchemas["Isolation"];

/** From weakest to strongest. */
export const isolationLevels: readonly Isolation[] = ["namespace", "container", "gvisor", "microvm"];

/** What the control plane last said about a sandbox. */
export interface SandboxRecord {
  id: string;
  status: SandboxStatus;
  name: string | undefined;
  metadata: Readonly<Record<string, string>>;
  template: string | undefined;
  templateId: string | undefined;
  region: string | undefined;
  isolation: Isolation | undefined;
  internetAccess: boolean | undefined;
  resources: { vcpu: number | undefined; memoryMb: number | undefined; diskMb: number | undefined };
  timeoutSeconds: number | undefined;
  createdAt: Date | undefined;
  expiresAt: Date | undefined;
  failureReason: string | undefined;
  /** Where its agent answers. */
  publicHost: string | undefined;
}

export function sandboxRecord(wire: WireSandbox): SandboxRecord {
  return {
    id: wire.id,
    status: wire.status,
    name: wire.name,
    metadata: wire.metadata ?? {},
    template: wire.template_name,
    templateId: wire.template_id,
    region: wire.region,
    isolation: wire.isolation,
    internetAccess: wire.internet_access,
    resources: {
      vcpu: wire.resources?.vcpu,
      memoryMb: wire.resources?.memory_mb,
      diskMb: wire.resources?.disk_mb,
    },
    timeoutSeconds: wire.timeout_seconds ?? undefined,
    createdAt: date(wire.created_at),
    expiresAt: date(wire.expires_at),
    failureReason: wire.failure_reason,
    publicHost: wire.public_host || wire.direct_url || undefined,
  };
}

/** Undefined for what is no date. */
export function date(text: string | null | undefined): Date | undefined {
  if (text === null || text === undefined) return undefined;
  const value = new Date(text);
  return Number.isNaN(value.getTime()) ? undefined : value;
}
