export type { NameResolver } from "./addresses/name-servers.js";
export type { AuthoritiesReport } from "./authorities/authorities-report.js";
export { type DoctorReport, examineHost } from "./doctor.js";
export type { EgressOptions } from "./egress/egress-options.js";
export type { EgressReport } from "./egress/egress-report.js";
export {
  AuditLogError,
  CannotLeaveRunningError,
  ClusterRecordsError,
  DataDirectoryError,
  InvalidAuthorityError,
  InvalidEgressError,
  InvalidMountDirectoryError,
  InvalidOriginError,
  InvalidPoolError,
  InvalidPublicUrlError,
  InvalidRecordsError,
  InvalidSecretsKeyError,
  LocalControlPlaneError,
  NotKeptError,
  PortUnavailableError,
  RuntimeOptionsError,
  RuntimeUnavailableError,
} from "./errors/local-errors.js";
export { startLocalControlPlane } from "./local-control-plane.js";
export type { LocalControlPlane, LocalControlPlaneOptions } from "./local-control-plane-options.js";
export type { HostLanguage } from "./runtime/language-tools.js";
export type {
  KubernetesOptions,
  PodPlacement,
  PodToleration,
  SandboxPlacement,
} from "./runtime/runtime-options.js";
export type { Enforcement, IsolationLevel, MachineLimits, RuntimeReport } from "./runtime/sandbox-runtime.js";
export type { WebhookOptions } from "./webhooks/webhook-options.js";
