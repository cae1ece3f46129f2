/** OpenTelemetry spans for a client's requests, following the semantic conventions for HTTP clients. */
import {
  type Attributes,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { checkKnown } from "./config/options.js";
import type {
  RequestEvent,
  RequestOutcome,
  RequestSpan,
  TraceContext,
  Tracing,
} from "./transport/observer.js";
import { version } from "./transport/version.js";

/** Options of `openTelemetry`. */
export interface OpenTelemetryOptions {
  /** Creates the spans. Default: the globally registered provider, looked up for each span. */
  tracerProvider?: TracerProvider | undefined;
}

/**
 * A value for the client's option `tracing`. Each attempt of each call becomes a span of kind CLIENT, child of the active
 * span; the registered propagator sends its context to the server. If the program registered no provider and no
 * propagator, does nothing.
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Tracing {
  checkKnown("openTelemetry", options, { tracerProvider: true });
  const { tracerProvider } = options;
  return {
    begin(request) {
      const tracer = (tracerProvider ?? trace).getTracer("cloud-sandbox", version);
      return new TrySpan(tracer, request);
    },
  };
}

class TrySpan implements RequestSpan {
  readonly context: TraceContext | undefined;
  readonly #span: Span;

  constructor(tracer: Tracer, request: RequestEvent) {
    const { method, operation } = request;
    const name = operation === undefined ? method : `${method} ${operation}`;
    const parent = context.active();
    this.#span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes: attributesOf(request) }, parent);
    const carrier: Partial<TraceContext> = {};
    propagation.inject(trace.setSpan(parent, this.#span), carrier);
    // Only these two headers are sent. Propagators of other formats set other headers, which are ignored.
    const { traceparent, tracestate } = carrier;
    this.context = traceparent === undefined ? undefined : { traceparent, tracestate };
  }

  end(outcome: RequestOutcome): void {
    const type = "status" in outcome ? this.#answered(outcome.status) : outcome.error.code;
    if (type !== undefined) {
      const message = "error" in outcome ? { message: outcome.error.summary } : {};
      this.#span.setAttribute("error.type", type).setStatus({ code: SpanStatusCode.ERROR, ...message });
    }
    this.#span.end();
  }

  #answered(status: number): string | undefined {
    this.#span.setAttribute("http.response.status_code", status);
    return status < 400 ? undefined : String(status);
  }
}

function attributesOf({
  attempt,
  method,
  operation,
  origin,
  path,
  plane,
  requestId,
}: RequestEvent): Attributes {
  const { hostname, port, protocol } = new URL(origin);
  const attributes: Attributes = {
    "http.request.method": method,
    "server.address": hostname,
    "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
    "url.full": origin + path,
    "cloud_sandbox.plane": plane,
    "cloud_sandbox.request_id": requestId,
  };
  if (operation !== undefined) attributes["url.template"] = operation;
  if (attempt > 1) attributes["http.request.resend_count"] = attempt - 1;
  return attributes;
}
