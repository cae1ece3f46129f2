import type { HeadersOptions } from "openapi-fetch";
import { describe, expect, test } from "vitest";
import { testClient } from "../support/clients.js";
import { withSandbox } from "../support/sandbox-service.js";
import { json, scriptedServer } from "../support/scripted-server.js";

const content = '{"content":"grüß"}';

async function agentThatAnswers(declaresLength: boolean) {
  const server = await scriptedServer((_, response) => {
    response.setHeader("content-type", "application/x-kept");
    if (declaresLength) response.setHeader("content-length", Buffer.byteLength(content));
    response.write(content);
    response.end();
  });
  return (await withSandbox(server.url)).agent;
}

const params = { query: { path: "/workspace/a" } };

describe.each([true, false])("the body of an answer (length declared: %s)", (declaresLength) => {
  test.each([
    ["json", (data: unknown) => JSON.stringify(data)],
    ["text", (data: unknown) => data],
    ["blob", (data: unknown) => (data as Blob).text()],
    ["arrayBuffer", (data: unknown) => Buffer.from(data as ArrayBuffer).toString()],
    ["stream", (data: unknown) => new Response(data as ReadableStream).text()],
  ] as const)("is given as %s where that is asked for", async (parseAs, text) => {
    const agent = await agentThatAnswers(declaresLength);
    const { data } = await agent.GET("/files/download", { params, parseAs });
    expect(await text(data)).toBe(content);
    if (data instanceof Blob) expect(data.type).toBe("application/x-kept");
  });
});

test("an answer without a body has no data, and an error without one no error", async () => {
  let status = 200;
  const server = await scriptedServer((_, response) => response.writeHead(status).end());
  const { controlPlane } = testClient(server.url, { retry: false });
  for (status of [200, 204, 418]) {
    const { data, error, response } = await controlPlane.GET("/v1/sandboxes");
    expect({ data, error, status: response.status }).toEqual({ data: undefined, error: undefined, status });
  }
});

test("headers come from the call and its parameters, and none replaces the key", async () => {
  const server = await scriptedServer((_, response) => json(response, 200, {}));
  await testClient(server.url).controlPlane.POST("/v1/sandboxes", {
    body: { template_name: "base" },
    params: { header: { "Idempotency-Key": "mine" } },
    headers: { "X-Api-Key": "another", "X-Mine": "1", Accept: null },
  });
  expect(server.requests[0]?.headers).toMatchObject({
    "content-type": "application/json",
    "idempotency-key": "mine",
    "x-api-key": expect.not.stringContaining("another"),
    "x-mine": "1",
  });
});

test("a name that is no UTF-8 is refused where it would be part of an address", async () => {
  const server = await scriptedServer((_, response) => json(response, 200, {}));
  const sandbox = await withSandbox(server.url);
  for (const call of [
    () => sandbox.diff("/repo/a\udcff"),
    () => sandbox.files.readText("/workspace/a\udcff"),
    () => testClient(server.url).sandboxes.get("\udcff"),
  ])
    await expect(call()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

test.each([
  [{ "x-line": "a\nb" }, /"x-line"/],
  [{ "no name": "a" }, /"no name"/],
  [[["x-euro", "€"]], /"x-euro"/],
] as const)("a header that cannot be sent is refused by its name: %j", async (headers, named) => {
  const server = await scriptedServer((_, response) => json(response, 200, {}));
  const call = testClient(server.url).controlPlane.GET("/v1/sandboxes", {
    headers: headers as HeadersOptions,
  });
  await expect(call).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(named),
  });
  expect(server.requests).toEqual([]);
});

test.each([
  ["a list of pairs", [["X-Mine", "1"]]],
  ["headers of fetch", new Headers({ "X-Mine": "1" })],
] as const)("headers may be %s", async (_, headers) => {
  const server = await scriptedServer((_, response) => json(response, 200, {}));
  await testClient(server.url).controlPlane.GET("/v1/sandboxes", { headers: headers as HeadersOptions });
  expect(server.requests[0]?.headers).toMatchObject({ "x-mine": "1" });
});
