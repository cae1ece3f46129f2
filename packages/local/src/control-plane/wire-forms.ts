import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { EgressEntry } from "../egress/egress-log.js";

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
