import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpServer, startHttpServer } from "../support/http-server.js";
import { connect, type McpConnection } from "../support/mcp-connection.js";

let mcp: McpConnection;
beforeAll(async () => {
  mcp = await connect({
    CLOUD_SANDBOX_BACKEND: "local",
    CLOUD_SANDBOX_MCP_TOOLSETS: "default,compatibility",
  });
});
afterAll(() => mcp.client.close());

const call = (method: string, path: string, more: Record<string, unknown> = {}) =>
  mcp.result("call_api", { method, path, ...more });

it("call_api does what the tool for the same operation does", async () => {
  const made = await call("POST", "/v1/sandboxes", { body: { template_id: 1, timeout_seconds: 300 } });
  expect(made).toMatchObject({ status: "running", template_name: "base", public_host: expect.any(String) });
  const at = `/v1/sandboxes/${made.id}`;
  expect(await call("GET", at)).toEqual(await mcp.result("get_sandbox", { id: made.id }));
  expect(await call("GET", "/v1/sandboxes?limit=1", { query: { status: "running" } })).toMatchObject({
    count: 1,
  });
  const moved = await call("PUT", `${at}/timeout`, { body: { timeout_seconds: 900 } });
  expect(moved).toMatchObject({ status: "updated", timeout_seconds: 900 });
  expect(await call("POST", `${at}/pause`)).toEqual({ id: made.id, status: "paused" });
  expect(await call("POST", `${at}/resume`, { auth_token: "unused" })).toMatchObject({ status: "running" });
  expect(await call("DELETE", at)).toEqual({ id: made.id, status: "deleted" });
  expect(await call("GET", "/v1/templates/base")).toMatchObject({ name: "base" });
  expect(await call("GET", "/health")).toMatchObject({ status: "healthy" });
});

it("call_api gives a token only where the tool does", async () => {
  const made = await call("POST", "/v1/sandboxes", { body: {} });
  expect(JSON.stringify(made)).not.toMatch(/eyJ|token/);
  const open = await call("POST", "/v1/sandboxes", { body: { include_auth_token: true } });
  expect(open.auth_token).toMatch(/^eyJ/);
  const refresh = { method: "POST", path: `/v1/sandboxes/${made.id}/token/refresh` };
  expect(await mcp.failure("call_api", refresh)).toContain("call_api has no POST");
  for (const { id } of [made, open]) await call("DELETE", `/v1/sandboxes/${id}`);
});

it.each([
  "http://127.0.0.1:9/v1/sandboxes",
  "//127.0.0.1:9/v1/sandboxes",
  "/\\127.0.0.1:9/v1/sandboxes",
  "@127.0.0.1:9/v1/sandboxes",
  "v1/sandboxes",
  "/v1/sandboxes\r\nHost: elsewhere",
])("call_api refuses %j, which is not a path", async (path) => {
  expect(await mcp.failure("call_api", { method: "GET", path })).toMatch(/^path must be the path/);
});

it.each([
  "/v1/../v1/sandboxes",
  "/v1/sandboxes/",
  "/v1/templates/build/1/logs",
  "/agent/1/env",
  "/v2/sandboxes",
])("call_api refuses %s, and names what exists", async (path) => {
  const said = await mcp.failure("call_api", { method: "GET", path });
  expect(said).toMatch(/^call_api has no GET \S+; it has GET \/health, GET \/v1\/sandboxes, POST/);
});

it.each(["..", "..%2f..%2fhealth", "a%2Fb", "%00"])(
  "call_api with %s addresses only a sandbox of that id",
  async (id) => {
    const said = await mcp.failure("call_api", { method: "GET", path: `/v1/sandboxes/${id}` });
    expect(said).not.toContain("healthy");
  },
);

it("call_api cannot do what tools that are not offered do", async () => {
  const careful = await connect({
    CLOUD_SANDBOX_BACKEND: "local",
    CLOUD_SANDBOX_MCP_TOOLSETS: "default,compatibility",
    CLOUD_SANDBOX_MCP_EXCLUDE_TOOLS: "delete_sandbox,create_sandbox",
  });
  const said = await careful.failure("call_api", { method: "DELETE", path: "/v1/sandboxes/1" });
  expect(said).toContain("call_api has no DELETE /v1/sandboxes/1");
  expect(said).not.toMatch(/DELETE \/v1\/sandboxes\/\{id\}|POST \/v1\/sandboxes,/);
  await careful.client.close();
});

describe("call_api with two clients", () => {
  let server: HttpServer;
  beforeAll(async () => {
    server = await startHttpServer(["--toolsets", "default,compatibility"]);
  });
  afterAll(() => server.stop());

  it("keeps the sandboxes of each from the other", async () => {
    const [one, other] = await Promise.all([server.connect(), server.connect()]);
    const { id } = await one.result("call_api", { method: "POST", path: "/v1/sandboxes" });
    const list = { method: "GET", path: "/v1/sandboxes" };
    expect(await one.result("call_api", list)).toMatchObject({ count: 1 });
    expect(await other.result("call_api", list)).toMatchObject({ count: 0 });
    for (const method of ["GET", "DELETE"])
      expect(await other.failure("call_api", { method, path: `/v1/sandboxes/${id}` })).toContain("not found");
    expect(await one.result("get_sandbox", { id })).toMatchObject({ status: "running" });
    for (const { client } of [one, other]) await client.close();
  });
});
