import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { ControlPlaneContract } from "../../generated/control-plane-contract.js";
import type { Exchange } from "../../http/exchange.js";
import type { Handlers } from "../../router/handlers.js";
import { pageOf } from "../../router/page.js";

type WireEntry = ControlPlaneSchemas["EgressEntry"];

/**
 * One connection that a program in a sandbox requested, or with the protocol `https` one request to a host that has a secret. Of
 * connections nothing is recorded that was sent over them; of such requests the method and the path.
 */
export interface EgressEntry {
  /** Number of the connection. Later connections have greater numbers, so numbers sort by age. */
  readonly sequence: number;
  readonly time: Date;
  readonly protocol: WireEntry["protocol"];
  readonly host: string;
  readonly port: number;
  readonly address: string | undefined;
  readonly decision: WireEntry["decision"];
  readonly reason: string | undefined;
  /** The rule that decided, if one did. */
  readonly rule?: string | undefined;
  readonly isOpen: boolean;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly durationMs: number;
  readonly request?: EgressRequest | undefined;
}

/** A request to a host that has a secret. */
export interface EgressRequest {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  /** The status of the server's answer; undefined if there was none. */
  readonly status: number | undefined;
  /** The names of the secrets that were put in. */
  readonly secrets: readonly string[];
}

export interface EgressTotals {
  readonly allowed: number;
  readonly refused: number;
  readonly failed: number;
  /** Number of connections beyond the limit. They were closed before their request was read. */
  readonly dropped: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** The recorded connections of one sandbox. */
export interface EgressRecord {
  readonly sandboxId: string;
  readonly entries: readonly EgressEntry[];
  readonly totals: EgressTotals;
}

/** The operation that lists a sandbox's connections. `record` throws a problem if no sandbox has the id. */
export function egressHandlers(record: (sandboxId: string) => EgressRecord) {
  return {
    listSandboxEgress: ({ params, query, requestId }) => {
      const { sandboxId, entries, totals } = record(params.id);
      const { limit, cursor } = query;
      const { items, nextCursor } = pageOf(entries, placeInList, { limit, cursor });
      return {
        object: "list",
        data: items.map(onWire),
        has_more: nextCursor !== undefined,
        ...(nextCursor !== undefined && { next_cursor: nextCursor }),
        totals: {
          allowed: totals.allowed,
          refused: totals.refused,
          failed: totals.failed,
          dropped: totals.dropped,
          bytes_sent: totals.bytesSent,
          bytes_received: totals.bytesReceived,
        },
        url: `/v1/sandboxes/${sandboxId}/egress`,
        request_id: requestId,
      };
    },
  } satisfies Handlers<ControlPlaneContract, unknown, Exchange>;
}

const placeInList = ({ sequence }: EgressEntry): string => String(sequence).padStart(16, "0");

function onWire(entry: EgressEntry): WireEntry {
  return {
    time: entry.time.toISOString(),
    protocol: entry.protocol,
    host: entry.host,
    port: entry.port,
    ...(entry.address !== undefined && { address: entry.address }),
    ...(entry.request && requestOnWire(entry.request)),
    decision: entry.decision,
    ...(entry.reason !== undefined && { reason: entry.reason }),
    ...(entry.rule !== undefined && { rule: entry.rule }),
    open: entry.isOpen,
    bytes_sent: entry.bytesSent,
    bytes_received: entry.bytesReceived,
    duration_ms: entry.durationMs,
  };
}

function requestOnWire({ method, path, status, secrets }: EgressRequest): Partial<WireEntry> {
  return { method, path, ...(status !== undefined && { status }), secrets: [...secrets] };
}
