import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { ownLimitsOnWire } from "./own-limits.js";
import type { TemplateFacts } from "./template-facts.js";

/** What a control plane knows of a sandbox, as far as callers are told. */
export interface SandboxFacts {
  readonly id: string;
  readonly status: "creating" | "running" | "paused" | "stopped" | "error";
  readonly name: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly template: TemplateFacts;
  readonly egress: EgressWish;
  readonly isolation: ControlPlaneSchemas["Isolation"];
  readonly timeoutSeconds: number;
  readonly expiresAt: Date;
  readonly createdAt: Date;
  readonly failureReason: string | undefined;
}

/** The way out that a sandbox was created with, as its create spelled it. */
export interface EgressWish {
  readonly internetAccess: boolean;
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

/** Where callers see what listens in a sandbox, in the contract's names. */
export type PreviewUrls = Pick<
  ControlPlaneSchemas["Sandbox"],
  "preview_url" | "preview_url_template" | "preview_path_template"
>;

/** A sandbox as the contract spells it, without its token. */
export function sandboxOnWire(
  sandbox: SandboxFacts,
  agentUrl: string,
  previews: PreviewUrls,
  requestId: string,
): ControlPlaneSchemas["Sandbox"] {
  const { limits, ownLimits } = sandbox.template;
  return {
    id: sandbox.id,
    object: "sandbox",
    status: sandbox.status,
    ...(sandbox.name !== undefined && { name: sandbox.name }),
    metadata: { ...sandbox.metadata },
    organization_id: 0,
    region: "local",
    template_id: sandbox.template.id,
    template_name: sandbox.template.name,
    public_host: agentUrl,
    direct_url: agentUrl,
    ...previews,
    resources: {
      vcpu: Math.ceil(limits.vcpu),
      memory_mb: limits.memoryMb,
      disk_mb: limits.diskMb,
    },
    internet_access: sandbox.egress.internetAccess,
    ...egressOnWire(sandbox.egress),
    ...(ownLimits && { limits: ownLimitsOnWire(ownLimits) }),
    live_mode: false,
    isolation: sandbox.isolation,
    timeout_seconds: sandbox.timeoutSeconds,
    expires_at: sandbox.expiresAt.toISOString(),
    created_at: sandbox.createdAt.toISOString(),
    ...(sandbox.failureReason !== undefined && { failure_reason: sandbox.failureReason }),
    request_id: requestId,
  };
}

function egressOnWire({ allow, deny }: EgressWish): Pick<ControlPlaneSchemas["Sandbox"], "egress"> {
  if (allow === undefined && deny === undefined) return {};
  return { egress: { ...(allow && { allow: [...allow] }), ...(deny && { deny: [...deny] }) } };
}
