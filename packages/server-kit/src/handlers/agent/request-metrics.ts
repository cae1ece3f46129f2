import type { RequestEvent } from "../../router/contract-service.js";

/** Number of latest durations per endpoint from which the 95th percentile is computed. */
const remembered = 256;

interface Endpoint {
  requests: number;
  errors: number;
  totalMs: number;
  readonly latestMs: number[];
}

export interface EndpointMetrics {
  readonly endpoint: string;
  readonly requests: number;
  readonly errors: number;
  readonly totalMs: number;
  readonly p95Ms: number;
}

/**
 * Counts requests and their durations by the contract's paths. Requests to other paths are counted together, so that
 * callers cannot create any number of series.
 */
export class RequestMetrics {
  readonly #endpoints = new Map<string, Endpoint>();

  record({ operation, status, durationMs }: Pick<RequestEvent, "operation" | "status" | "durationMs">): void {
    const { path = "unknown" } = operation ?? {};
    let endpoint = this.#endpoints.get(path);
    if (!endpoint) {
      endpoint = { requests: 0, errors: 0, totalMs: 0, latestMs: [] };
      this.#endpoints.set(path, endpoint);
    }
    endpoint.latestMs[endpoint.requests % remembered] = durationMs;
    endpoint.requests += 1;
    endpoint.totalMs += durationMs;
    if (status >= 400) endpoint.errors += 1;
  }

  endpoints(): EndpointMetrics[] {
    return [...this.#endpoints].map(([endpoint, { requests, errors, totalMs, latestMs }]) => ({
      endpoint,
      requests,
      errors,
      totalMs,
      p95Ms: percentile95(latestMs),
    }));
  }
}

function percentile95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;
}
