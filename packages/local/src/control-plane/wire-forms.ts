import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { EgressEntry } from "../egress/egress-log.js";
import type { PreviewUrls } from "../gateway/preview-target.js";
import type { SandboxRecord } from "./sandbox-record.js";
import type { LocalTemplate } from "./template-catalogue.js";

/** A sandbox as the contract spells it, without its token. */
export function sandboxOnWire(
  sandbox: SandboxRecord,
  agentUrl: string,
  previews: PreviewUrls,
  requestId: string,
): ControlPlaneSchemas["Sandbox"] {
  const { limits } = sandbox.template;
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
      vcpu: Math.max(1, Math.round(limits.vcpu)),
      memory_mb: limits.memoryMb,
      disk_mb: limits.diskMb,
    },
    internet_access: sandbox.egress.internetAccess,
    ...egressOnWire(sandbox.egress),
    live_mode: false,
    isolation: sandbox.isolation,
    timeout_seconds: sandbox.timeoutSeconds,
    expires_at: sandbox.expiresAt.toISOString(),
    created_at: sandbox.createdAt.toISOString(),
    ...(sandbox.failureReason !== undefined && { failure_reason: sandbox.failureReason }),
    request_id: requestId,
  };
}

function egressOnWire({
  allow,
  deny,
}: SandboxRecord["egress"]): Pick<ControlPlaneSchemas["Sandbox"], "egress"> {
  if (allow === undefined && deny === undefined) return {};
  return { egress: { ...(allow && { allow: [...allow] }), ...(deny && { deny: [...deny] }) } };
}

/** One connection that a sandbox asked for. */
export function egressEntryOnWire(entry: EgressEntry): ControlPlaneSchemas["EgressEntry"] {
  return {
    time: entry.time.toISOString(),
    protocol: entry.protocol,
    host: entry.host,
    port: entry.port,
    ...(entry.address !== undefined && { address: entry.address }),
    decision: entry.decision,
    ...(entry.reason !== undefined && { reason: entry.reason }),
    open: entry.isOpen,
    bytes_sent: entry.bytesSent,
    bytes_received: entry.bytesReceived,
    duration_ms: entry.durationMs,
  };
}

export function templateListItemOnWire(template: LocalTemplate): ControlPlaneSchemas["TemplateListItem"] {
  return {
    id: template.id,
    object: "template",
    name: template.name,
    display_name: template.displayName,
    description: template.description,
    category: template.category,
    language: "multi",
    status: "active",
    is_active: true,
    is_public: true,
    default_resources: resourcesOnWire(template),
  };
}

export function templateOnWire(template: LocalTemplate, requestId: string): ControlPlaneSchemas["Template"] {
  const resources = resourcesOnWire(template);
  return {
    ...templateListItemOnWire(template),
    features: template.languages.map(({ language, version }) => `${language} ${version}`),
    tags: template.languages.map(({ language }) => language),
    min_resources: resources,
    max_resources: resources,
    request_id: requestId,
  };
}

function resourcesOnWire({ limits }: LocalTemplate): ControlPlaneSchemas["TemplateResources"] {
  return {
    vcpu: Math.max(1, Math.round(limits.vcpu)),
    memory_mb: limits.memoryMb,
    disk_gb: Math.max(1, Math.round(limits.diskMb / 1024)),
  };
}
