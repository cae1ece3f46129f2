import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { Isolation } from "../config/isolation.js";
import { date } from "../transport/answers/date.js";

type WireSandbox = ControlPlaneSchemas["Sandbox"];

/** What a sandbox is doing; calls to its agent need `running`. */
export type SandboxStatus = ControlPlaneSchemas["SandboxStatus"];

/** What the control plane last said about a sandbox. */
export interface SandboxRecord {
  id: string;
  status: SandboxStatus;
  /** The name it was created with. */
  name: string | undefined;
  /** The labels it was created with. */
  metadata: Readonly<Record<string, string>>;
  /** The name of its template. */
  template: string | undefined;
  templateId: string | undefined;
  /** Where it runs. */
  region: string | undefined;
  /** What stands between it and its host, where the server says. */
  isolation: Isolation | undefined;
  /** Whether code in it reaches the internet. */
  internetAccess: boolean | undefined;
  /** What it may use: processors (parts of one too), and MiB. */
  resources: { vcpu: number | undefined; memoryMb: number | undefined; diskMb: number | undefined };
  /** Its lifetime in seconds, as it was set last; undefined where it has no deadline. */
  timeoutSeconds: number | undefined;
  /** By the server's clock, as is `expiresAt`. */
  createdAt: Date | undefined;
  /** When it is deleted. */
  expiresAt: Date | undefined;
  /** Why it broke down, where `status` is `error`. */
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
      // A whole number on the wire; parts of a processor are in the limits that it was created with.
      vcpu: wire.limits?.vcpu ?? wire.resources?.vcpu,
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
