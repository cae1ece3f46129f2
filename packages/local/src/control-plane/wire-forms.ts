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

export function templateListItemOnWire(
  template: LocalTemplate,
  packages: readonly string[],
): ControlPlaneSchemas["TemplateListItem"] {
  const { built } = template;
  const has = packages.length > 0 ? ` With ${packages.join(", ")}.` : "";
  return {
    id: template.id,
    object: "template",
    name: template.name,
    display_name: template.displayName,
    description: built ? template.description : template.description + has,
    category: template.category,
    language: "multi",
    status: built?.status ?? "active",
    is_active: !built || built.status === "active",
    is_public: !built,
    ...(built && { build_id: built.buildId, created_at: built.createdAt, updated_at: built.updatedAt }),
    default_resources: resourcesOnWire(template),
  };
}

export function templateOnWire(
  template: LocalTemplate,
  packages: readonly string[],
  requestId: string,
): ControlPlaneSchemas["Template"] {
  const resources = resourcesOnWire(template);
  const { languages, built } = template;
  return {
    ...templateListItemOnWire(template, packages),
    features: [...languages.map(({ language, version }) => `${language} ${version}`), ...packages],
    tags: [
      ...languages.map(({ language }) => language),
      ...packages.map((name) => name.split(" ")[0] ?? "").map((name) => name.toLowerCase()),
    ],
    // Without its steps: they hold the values of variables.
    ...(built && {
      fluent_api_config: { from_image: built.fromImage, startCmd: built.startCommand ?? null },
    }),
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
