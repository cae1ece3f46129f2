import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { Isolation } from "../config/isolation.js";
import { date } from "../transport/answer-fields.js";
import type { OnTimeout, StopReason } from "./sleep-options.js";

type WireSandbox = ControlPlaneSchemas["Sandbox"];

/** State of a sandbox. Calls to its agent need `running`. */
export type SandboxStatus = ControlPlaneSchemas["SandboxStatus"];

/** What the control plane last reported about a sandbox. */
export interface SandboxRecord {
  id: string;
  status: SandboxStatus;
  /** The name given when the sandbox was created. */
  name: string | undefined;
  /** The sandbox's labels. */
  metadata: Readonly<Record<string, string>>;
  /** Name of the sandbox's template. */
  template: string | undefined;
  templateId: string | undefined;
  /** Region that the sandbox runs in. */
  region: string | undefined;
  /** What separates the sandbox from its host; undefined if the server does not say. */
  isolation: Isolation | undefined;
  /** Whether code in the sandbox can reach the internet. */
  internetAccess: boolean | undefined;
  /** Limits of the sandbox: processors (fractions are possible), memory and disk in MiB. */
  resources: { vcpu: number | undefined; memoryMb: number | undefined; diskMb: number | undefined };
  /** Lifetime in seconds, as last set; undefined if the sandbox has no deadline. */
  timeoutSeconds: number | undefined;
  /** When the sandbox was created, by the server's clock. */
  createdAt: Date | undefined;
  /** The sandbox's deadline, by the server's clock. */
  expiresAt: Date | undefined;
  /** What happens at the deadline while the sandbox runs; undefined if the server does not say, and then it is deleted. */
  onTimeout: OnTimeout | undefined;
  /** Seconds without activity after which the sandbox sleeps; undefined if it does not. */
  idleTimeoutSeconds: number | undefined;
  /** Whether calls to the sandbox start it while it sleeps. */
  autoStart: boolean;
  /** Why the sandbox is stopped or paused. */
  stopReason: StopReason | undefined;
  /** Why the sandbox failed, if `status` is `error`. */
  failureReason: string | undefined;
  /** Address of the sandbox's agent. */
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
      // Prefer `limits`: on the wire, `resources.vcpu` is rounded up to a whole number.
      vcpu: wire.limits?.vcpu ?? wire.resources?.vcpu,
      memoryMb: wire.resources?.memory_mb,
      diskMb: wire.resources?.disk_mb,
    },
    timeoutSeconds: wire.timeout_seconds ?? undefined,
    createdAt: date(wire.created_at),
    expiresAt: date(wire.expires_at),
    onTimeout: wire.on_timeout,
    idleTimeoutSeconds: wire.idle_timeout_seconds,
    autoStart: wire.auto_start ?? false,
    stopReason: wire.stop_reason,
    failureReason: wire.failure_reason,
    publicHost: wire.public_host || wire.direct_url || undefined,
  };
}
