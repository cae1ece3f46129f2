import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_RESEND_COUNT,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_URL_FULL,
} from "@opentelemetry/semantic-conventions";
import { ATTR_URL_TEMPLATE } from "@opentelemetry/semantic-conventions/incubating";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SandboxClientOptions } from "../../src/index.js";
import { openTelemetry } from "../../src/opentelemetry.js";
import { version } from "../../src/transport/version.js";
import { carriers, rejection, testClient, unusedUrl } from "../support/clients.js";
import { answerUpgrade, frameServer } from "../support/frame-server.js";
import { inTurn, json, scriptedServer } from "../support/scripted-server.js";

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
beforeAll(() => provider.register());
afterEach(() => exporter.reset());
afterAll(async () => {
  await provider.shutdown();
  trace.disable();
  context.disable();
  propagation.disable();
});

const found = { id: "abc", status: "running" };
const observed = (options: SandboxClientOptions = {}): SandboxClientOptions => ({
  ...options,
  tracing: openTelemetry(),
});

describe.each(carriers)("a span over %s", (_, carrier) => {
  test("has the attributes of the HTTP conventions, and no query", async () => {
    const server = await scriptedServer((_, response) => json(response, 200, { data: [] }));
    const client = testClient(server.url, observed(carrier));
    await client.sandboxes.list({ region: "a-private-word" }).pages().next();
    const [span] = exporter.getFinishedSpans();
    expect(span).toMatchObject({
      name: "GET /v1/sandboxes",
      kind: SpanKind.CLIENT,
      status: { code: SpanStatusCode.UNSET },
      instrumentationScope: { name: "cloud-sandbox", version },
      attributes: {
        [ATTR_HTTP_REQUEST_METHOD]: "GET",
        [ATTR_SERVER_ADDRESS]: "127.0.0.1",
        [ATTR_SERVER_PORT]: Number(new URL(server.url).port),
        [ATTR_URL_FULL]: `${server.url}/v1/sandboxes`,
        [ATTR_URL_TEMPLATE]: "/v1/sandboxes",
        [ATTR_HTTP_RESPONSE_STATUS_CODE]: 200,
        "cloud_sandbox.request_id": server.requests[0]?.headers["x-request-id"],
      },
    });
    expect(span?.attributes).not.toHaveProperty([ATTR_HTTP_REQUEST_RESEND_COUNT]);
    expect(server.requests[0]?.path).toContain("a-private-word");
  });

  test("is the child of the active one, and the server's parent", async () => {
    const server = await scriptedServer((_, response) => json(response, 200, found));
    const client = testClient(server.url, observed(carrier));
    const parent = await trace.getTracer("test").startActiveSpan("work", async (span) => {
      await client.sandboxes.get("abc");
      span.end();
      return span.spanContext();
    });
    const [span] = exporter.getFinishedSpans();
    expect(span?.parentSpanContext?.spanId).toBe(parent.spanId);
    const { spanId, traceId } = span?.spanContext() ?? {};
    expect(traceId).toBe(parent.traceId);
    expect(server.requests[0]?.headers.traceparent).toBe(`00-${traceId}-${spanId}-01`);
  });

  test("is one for each try", async () => {
    const server = await scriptedServer(
      inTurn(
        (_, response) => json(response, 503, {}),
        (_, response) => response.destroy(),
        (_, response) => json(response, 200, found),
      ),
    );
    await testClient(server.url, observed(carrier)).sandboxes.get("abc");
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ attributes, status }) => [attributes, status.code])).toEqual([
      [
        expect.objectContaining({ [ATTR_HTTP_RESPONSE_STATUS_CODE]: 503, [ATTR_ERROR_TYPE]: "503" }),
        SpanStatusCode.ERROR,
      ],
      [
        expect.objectContaining({
          [ATTR_ERROR_TYPE]: expect.any(String),
          [ATTR_HTTP_REQUEST_RESEND_COUNT]: 1,
        }),
        SpanStatusCode.ERROR,
      ],
      [
        expect.objectContaining({
          [ATTR_HTTP_RESPONSE_STATUS_CODE]: 200,
          [ATTR_HTTP_REQUEST_RESEND_COUNT]: 2,
        }),
        SpanStatusCode.UNSET,
      ],
    ]);
    const sent = server.requests.map(({ headers }) => String(headers.traceparent).split("-")[2]);
    expect(sent).toEqual(spans.map((span) => span.spanContext().spanId));
  });

  test.each([
    ["cannot be reached", "ECONNREFUSED"],
    ["is aborted", "ABORTED"],
  ])("ends with the reason of a call that %s", async (_, reason) => {
    const stopping = new AbortController();
    const silent = await scriptedServer(() => stopping.abort());
    const url = reason === "ABORTED" ? silent.url : unusedUrl;
    const client = testClient(url, { ...observed(carrier), retry: false });
    await rejection(client.sandboxes.get("abc", { signal: stopping.signal }));
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ attributes }) => attributes[ATTR_ERROR_TYPE])).toEqual([reason]);
    expect(spans[0]?.status).toMatchObject({
      code: SpanStatusCode.ERROR,
      message: expect.stringMatching(/./),
    });
  });
});

test("the opening of a stream is a span, whose context the handshake has", async () => {
  const server = await frameServer((_, socket) =>
    socket.send({ type: "result", exit_code: 0 }, { type: "complete", success: true }),
  );
  const sandbox = await testClient(server.url, observed()).sandboxes.get("abc");
  exporter.reset();
  await sandbox.executeStream("1").result();
  const [span] = exporter.getFinishedSpans();
  expect(span).toMatchObject({
    name: "GET /execute/stream",
    attributes: {
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: 101,
      [ATTR_URL_FULL]: `${server.url}/agent/abc/execute/stream`,
    },
  });
  expect(server.upgrades[0]?.headers.traceparent).toContain(span?.spanContext().spanId);
});

test("the span of a refused stream has failed", async () => {
  const server = await frameServer(
    () => undefined,
    (_, connection) => answerUpgrade(connection, 410, { error: "gone" }),
  );
  const sandbox = await testClient(server.url, observed()).sandboxes.get("abc");
  exporter.reset();
  await rejection(sandbox.executeStream("1").result());
  expect(exporter.getFinishedSpans()).toMatchObject([{ attributes: { [ATTR_ERROR_TYPE]: "410" } }]);
});

test("another provider than the registered one may be used for spans", async () => {
  const server = await scriptedServer((_, response) => json(response, 200, found));
  const other = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(other)] });
  await testClient(server.url, { tracing: openTelemetry({ tracerProvider }) }).sandboxes.get("abc");
  expect(other.getFinishedSpans()).toHaveLength(1);
  expect(exporter.getFinishedSpans()).toEqual([]);
  await tracerProvider.shutdown();
});
