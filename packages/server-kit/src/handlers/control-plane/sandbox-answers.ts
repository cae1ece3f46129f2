import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type SecretFacts, secretOnWire } from "./secret-answers.js";
import { type SleepSettings, type StopReason, sleepOnWire } from "./sleep-answers.js";
import { ownLimitsOnWire, type TemplateFacts } from "./template-facts.js";

/** The facts about a sandbox that callers may see. */
export interface SandboxFacts {
  readonly id: string;
  readonly status: "creating" | "running" | "paused" | "stopped" | "error";
  readonly name: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly template: TemplateFacts;
  readonly egress: RequestedEgress;
  /** What it mounts. Undefined for a service without mounts. */
  readonly mounted?: readonly MountFacts[];
  /** Its secrets. Undefined if it was created without, and for a service without secrets. */
  readonly secrets?: readonly SecretFacts[] | undefined;
  readonly isolation: ControlPlaneSchemas["Isolation"];
  readonly timeoutSeconds: number;
  readonly expiresAt: Date;
  readonly createdAt: Date;
  readonly failureReason: string | undefined;
  readonly sleep: SleepSettings;
  /** Why it is stopped or paused. Undefined if it is not. */
  readonly stopReason: StopReason | undefined;
}

/** What is mounted at a path of a sandbox. */
export interface MountFacts {
  /** The path in the sandbox. */
  readonly target: string;
  /** A volume's name, or else a directory of the server's machine. */
  readonly source: { readonly volume: string } | { readonly host: string };
  readonly readOnly: boolean;
  /** Whether the sandbox writes to a copy of its own. Default: false. */
  readonly isCopy?: boolean;
}

/** The internet access that a create request asked for, or the server's default if it named none. */
export interface RequestedEgress {
  readonly internetAccess: boolean;
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  readonly ask?: boolean | undefined;
}

/** URLs at which callers reach servers that listen in a sandbox, under the contract's field names. */
export type PreviewUrls = Pick<
  ControlPlaneSchemas["Sandbox"],
  "preview_url" | "preview_url_template" | "preview_path_template" | "preview_access"
>;

/** Describes a sandbox as the contract defines it, without its token. */
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
    ...mountsOnWire(sandbox.mounted ?? []),
    ...(sandbox.secrets && { secrets: sandbox.secrets.map(secretOnWire) }),
    ...sleepOnWire(sandbox.sleep, sandbox.stopReason),
    live_mode: false,
    isolation: sandbox.isolation,
    timeout_seconds: sandbox.timeoutSeconds,
    expires_at: sandbox.expiresAt.toISOString(),
    created_at: sandbox.createdAt.toISOString(),
    ...(sandbox.failureReason !== undefined && { failure_reason: sandbox.failureReason }),
    request_id: requestId,
  };
}

function mountsOnWire(mounted: readonly MountFacts[]): Pick<ControlPlaneSchemas["Sandbox"], "mounts"> {
  if (mounted.length === 0) return {};
  const mounts = mounted.map(({ target, source, readOnly, isCopy }) => [
    target,
    { ...source, read_only: readOnly, ...(isCopy && { mode: "copy" }) },
  ]);
  return { mounts: Object.fromEntries(mounts) };
}

function egressOnWire({ allow, deny, ask }: RequestedEgress): Pick<ControlPlaneSchemas["Sandbox"], "egress"> {
  if (allow === undefined && deny === undefined && ask === undefined) return {};
  const lists = { ...(allow && { allow: [...allow] }), ...(deny && { deny: [...deny] }) };
  return { egress: { ...lists, ...(ask !== undefined && { ask }) } };
}
