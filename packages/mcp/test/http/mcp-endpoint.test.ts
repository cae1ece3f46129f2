/** Sessions that begin at the same time. What clients of the MCP SDK do over HTTP is in http.sandbox.test.ts. */
import { McpServer } from "@modelcontextprotocol/server";
import { expect, it, onTestFinished } from "vitest";
import { McpEndpoint } from "../../src/http/mcp-endpoint.js";
import { OpenIds } from "../../src/http/open-ids.js";
import { SharedBackend } from "../../src/session/shared-backend.js";

const protocolVersion = "2025-06-18";

it("refuses a session too many, and forgets none whose first request is under way", async () => {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let asked = 0;
  const newServer = async (): Promise<McpServer> => {
    asked += 1;
    await begun;
    return new McpServer({ name: "test", version: "1" });
  };
  const log = (): void => undefined;
  const endpoint = new McpEndpoint({ newServer, log }, { most: 1, idleMs: 60_000 });
  onTestFinished(() => endpoint.close());
  const backend = new SharedBackend({ environment: {}, log });
  const send = (body: object, headers: Record<string, string> = {}) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...body });
    const accept = "application/json, text/event-stream";
    const request = new Request("http://127.0.0.1/mcp", {
      method: "POST",
      headers: { accept, "content-type": "application/json", ...headers },
      body: text,
    });
    return endpoint.serve({ request, text, tokenDigest: "", backend, over: new Promise(() => undefined) });
  };
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const both = [1, 2].map((id) => send({ id, method: "initialize", params }));
  // Both wait for their servers, as for other servers' tools.
  await expect.poll(() => asked).toBe(2);
  begin();
  const [first, second] = await Promise.all(both);
  expect([first?.status, second?.status]).toEqual([200, 503]);
  const session = { "mcp-session-id": (first as Response).headers.get("mcp-session-id") ?? "" };
  const version = { "mcp-protocol-version": protocolVersion };
  const next = await send({ method: "notifications/initialized" }, { ...session, ...version });
  expect(next.status).toBe(202);
});

it("refuses a request whose id another one has that is not answered yet, and takes it afterwards", async () => {
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const ids = new OpenIds();
  const request = (id: number | string) => ({ jsonrpc: "2.0", id, method: "tools/call" });
  expect(
    ids.enter([request(1), { jsonrpc: "2.0", method: "notifications/initialized" }], over),
  ).toBeUndefined();
  const refusal = { id: 1, error: { code: -32_600, message: expect.stringContaining("id of its own") } };
  const never = new Promise<void>(() => undefined);
  expect(ids.enter(request(1), never)).toMatchObject(refusal);
  expect(ids.enter([request("1"), request(2), request(2)], never)).toMatchObject({ ...refusal, id: 2 });
  expect(ids.enter({ jsonrpc: "2.0", id: 1, result: {} }, never)).toBeUndefined();
  expect(ids.enter(request("1"), never)).toBeUndefined();
  end();
  await over;
  expect(ids.enter(request(1), never)).toBeUndefined();
});
