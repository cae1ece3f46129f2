import type { RequestAudit } from "./request-audit.js";
import type { MeasuredParts, ServerMetrics } from "./server-metrics.js";

/** Loads the agents' contract, a third of the control plane's code, which only servers with an audit log need here. */
export async function auditTo(...audit: ConstructorParameters<typeof RequestAudit>): Promise<RequestAudit> {
  const loaded = await import("./request-audit.js");
  return new loaded.RequestAudit(...audit);
}

/** Loads prom-client, which only servers with `--metrics` need. */
export async function serverMetricsOf(parts: MeasuredParts): Promise<ServerMetrics> {
  const loaded = await import("./server-metrics.js");
  return new loaded.ServerMetrics(parts);
}
