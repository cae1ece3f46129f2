import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import { type CallOptions, callInit } from "../config/options.js";
import { InvalidResponseError } from "../errors/errors.js";
import { serverSentEvents } from "../streams/server-sent-events.js";
import { bodyOf, type ControlPlaneClient, successOf } from "../transport/contract-clients.js";
import { type SandboxMetrics, sandboxMetrics } from "./machine-reports.js";

/** Metrics of a sandbox: counters of its agent and resource use of its machine. */
export class Metrics {
  readonly #access: AgentAccess;
  readonly #controlPlane: ControlPlaneClient;

  /** @internal */
  static of(access: AgentAccess, controlPlane: ControlPlaneClient): Metrics {
    return new Metrics(access, controlPlane);
  }

  private constructor(access: AgentAccess, controlPlane: ControlPlaneClient) {
    this.#access = access;
    this.#controlPlane = controlPlane;
  }

  /** The current metrics (GET /metrics/snapshot). */
  async snapshot(options?: CallOptions): Promise<SandboxMetrics> {
    return sandboxMetrics(await bodyOf(this.#access.client.GET("/metrics/snapshot", callInit(options))));
  }

  /**
   * Yields metrics every few seconds, until the loop is left, `signal` fires, or the sandbox is stopped or gone (GET
   * /v1/sandboxes/{id}/metrics/stream). A paused sandbox yields nothing. An extension: on the cloud, throws a
   * `NotFoundError`.
   */
  async *stream(options?: CallOptions): AsyncGenerator<SandboxMetrics, void, undefined> {
    const params = { path: { id: this.#access.sandboxId } };
    const headers = { accept: "text/event-stream" };
    const init = { params, headers, parseAs: "stream", ...callInit(options) } as const;
    const stream = await successOf(this.#controlPlane.GET("/v1/sandboxes/{id}/metrics/stream", init));
    if (!(stream instanceof ReadableStream)) throw notMetrics();
    for await (const { data } of serverSentEvents(stream)) yield sandboxMetrics(snapshotIn(data));
  }

  /** The metrics in Prometheus' text format (GET /metrics/prometheus). */
  async prometheus(options?: CallOptions): Promise<string> {
    const init = { parseAs: "text", ...callInit(options) } as const;
    return (await successOf(this.#access.client.GET("/metrics/prometheus", init))) ?? "";
  }
}

function snapshotIn(data: string): AgentSchemas["MetricsSnapshot"] {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Drop the parser's error, because it quotes the text.
  }
  throw notMetrics();
}

function notMetrics(): InvalidResponseError {
  return new InvalidResponseError({
    summary: "The server's stream of metrics has an event that is not metrics.",
    hint: "Report this to the server's operator; metrics.snapshot() asks the sandbox itself.",
    code: "INVALID_RESPONSE",
  });
}
