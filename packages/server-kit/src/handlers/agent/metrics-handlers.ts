import { Reply } from "../../http/exchange.js";
import { type AnyAgentHandlers, now } from "./agent-handlers.js";
import type { EndpointMetrics, RequestMetrics } from "./request-metrics.js";

/** Resource usage of a sandbox. */
export interface Usage {
  /** CPU load in per cent of all processors that the sandbox may use. */
  readonly cpuPercent: number;
  /** Number of processors that the sandbox may use; may be a fraction. */
  readonly cpus: number;
  readonly memory: Share;
  readonly disk: Share;
  readonly processes: number;
}

/** Used and total amount in MiB. */
export interface Share {
  readonly used: number;
  readonly total: number;
  readonly percent: number;
}

interface MetricsParts {
  /** Number of executions so far, of those that failed, and of those that run. */
  readonly slots: {
    readonly counts: { readonly total: number; readonly failed: number };
    readonly active: number;
  };
  readonly cache: { readonly size: number };
  readonly usage: { read(): Promise<Usage> };
  readonly requests: RequestMetrics;
}

export function metricsHandlers({ slots, cache, usage, requests }: MetricsParts) {
  const started = performance.now();
  const uptime = () => (performance.now() - started) / 1000;

  async function snapshot() {
    const endpoints = requests.endpoints();
    const { cpuPercent, memory, disk, processes } = await usage.read();
    return {
      uptime_seconds: uptime(),
      total_executions: slots.counts.total,
      active_executions: slots.active,
      error_count: slots.counts.failed,
      requests_total: byEndpoint(endpoints, ({ requests, errors }) => ({
        success: requests - errors,
        error: errors,
      })),
      avg_duration_ms: byEndpoint(endpoints, (endpoint) => endpoint.totalMs / endpoint.requests),
      p95_duration_ms: byEndpoint(endpoints, (endpoint) => endpoint.p95Ms),
      total_requests: sum(endpoints, (endpoint) => endpoint.requests),
      total_errors: sum(endpoints, (endpoint) => endpoint.errors),
      system: { cpu: { usage_percent: cpuPercent }, memory: shareFields(memory), disk: shareFields(disk) },
      process: { count: processes },
      cache: { size: cache.size },
      timestamp: now(),
    };
  }

  async function prometheus(): Promise<string> {
    const endpoints = requests.endpoints();
    const { cpuPercent, memory, disk, processes } = await usage.read();
    const gauge = (name: string, help: string, value: number) =>
      ({ name: `hopx_agent_${name}`, help, type: "gauge", samples: [{ value }] }) as const;
    const counter = (name: string, help: string, samples: Sample[]) =>
      ({ name: `hopx_agent_${name}`, help, type: "counter", samples }) as const;
    return prometheusText([
      gauge("uptime_seconds", "Seconds since the agent started.", uptime()),
      counter("executions_total", "Programs run.", [{ value: slots.counts.total }]),
      counter("execution_errors_total", "Programs that failed.", [{ value: slots.counts.failed }]),
      gauge("active_executions", "Programs that run now.", slots.active),
      counter(
        "requests_total",
        "Requests answered.",
        labelled(endpoints, (endpoint) => endpoint.requests),
      ),
      counter(
        "request_errors_total",
        "Requests answered with 4xx or 5xx.",
        labelled(endpoints, ({ errors }) => errors),
      ),
      {
        name: "hopx_agent_request_duration_seconds",
        help: "Seconds until requests were answered; the quantile covers the latest requests only.",
        type: "summary",
        samples: endpoints.flatMap(({ endpoint, p95Ms, totalMs, requests: count }) => [
          { labels: { endpoint, quantile: "0.95" }, value: p95Ms / 1000 },
          { suffix: "_sum", labels: { endpoint }, value: totalMs / 1000 },
          { suffix: "_count", labels: { endpoint }, value: count },
        ]),
      },
      gauge("cpu_usage_percent", "CPU load in per cent of all cores of the sandbox.", cpuPercent),
      gauge("memory_used_bytes", "Memory in use.", bytes(memory.used)),
      gauge("memory_total_bytes", "Memory that may be used.", bytes(memory.total)),
      gauge("disk_used_bytes", "Disk in use at the workspace.", bytes(disk.used)),
      gauge("disk_total_bytes", "Size of the workspace's file system.", bytes(disk.total)),
      gauge("processes", "Processes in the sandbox.", processes),
    ]);
  }

  return {
    getMetrics: snapshot,
    getMetricsSnapshot: snapshot,
    getPrometheusMetrics: async () =>
      new Reply(await prometheus(), { "content-type": "text/plain; version=0.0.4; charset=utf-8" }),
  } satisfies AnyAgentHandlers;
}

type Value = (endpoint: EndpointMetrics) => number;

const byEndpoint = <Told>(
  endpoints: readonly EndpointMetrics[],
  value: (endpoint: EndpointMetrics) => Told,
): Record<string, Told> => Object.fromEntries(endpoints.map((metrics) => [metrics.endpoint, value(metrics)]));

const labelled = (endpoints: readonly EndpointMetrics[], value: Value): Sample[] =>
  endpoints.map((metrics) => ({ labels: { endpoint: metrics.endpoint }, value: value(metrics) }));

const sum = (endpoints: readonly EndpointMetrics[], value: Value) =>
  endpoints.reduce((total, endpoint) => total + value(endpoint), 0);

const shareFields = ({ used, total, percent }: Share) => ({
  usage_percent: percent,
  used_mb: used,
  total_mb: total,
});

const bytes = (mebibytes: number) => Math.round(mebibytes * 1024 * 1024);

/** All samples of one metric, in Prometheus' text format. */
export interface Series {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "summary";
  readonly samples: readonly Sample[];
}

interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Suffix of the metric's name, such as `_sum` and `_count` of a summary. */
  readonly suffix?: string;
}

function prometheusText(series: readonly Series[]): string {
  return series
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(
        ({ value, labels = {}, suffix = "" }) => `${name}${suffix}${labelText(labels)} ${value}`,
      ),
    ])
    .map((line) => `${line}\n`)
    .join("");
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(",")}}` : "";
}

const escapeLabel = (value: string) =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
