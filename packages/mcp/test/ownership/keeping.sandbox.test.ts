import { SandboxClient } from "cloud-sandbox";
import { type LocalControlPlane, startLocalControlPlane } from "cloud-sandbox-local";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exchange, startHttpServer, statelessRequest } from "../support/http-server.js";
import { connect } from "../support/mcp-connection.js";

// A control plane that goes on when the MCP server ends, as the cloud does.
let cloud: LocalControlPlane;
let client: SandboxClient;
let environment: Record<string, string>;

beforeAll(async () => {
  cloud = await startLocalControlPlane();
  client = new SandboxClient({ baseUrl: cloud.url, apiKey: cloud.apiKey });
  environment = {
    CLOUD_SANDBOX_BACKEND: "cloud",
    CLOUD_SANDBOX_BASE_URL: cloud.url,
    CLOUD_SANDBOX_API_KEY: cloud.apiKey,
  };
});
afterAll(async () => {
  await client.close();
  await cloud.close();
});

async function idsThere(): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of client.sandboxes.list()) ids.push(id);
  return ids;
}

async function isThere(id: unknown): Promise<boolean> {
  return (await idsThere()).includes(String(id));
}

describe("sandboxes in the cloud", () => {
  it.each([
    ["are deleted when the server ends", {}, false],
    ["stay when they are to be kept", { CLOUD_SANDBOX_MCP_KEEP_SANDBOXES: "true" }, true],
  ])("%s", async (_, settings, stays) => {
    const mcp = await connect({ ...environment, ...settings });
    const { id } = await mcp.result("create_sandbox");
    const { pid } = mcp.transport;
    await mcp.client.close();
    await expect.poll(() => isRunning(pid)).toBe(false);
    // A delete that the server has sent before its end still takes effect: wait for it.
    await expect.poll(() => isThere(id)).toBe(stays);
  });

  it("are left to their deadline by a server that is killed", async () => {
    const mcp = await connect(environment);
    const { id } = await mcp.result("create_sandbox", { timeout_seconds: 10 });
    process.kill(mcp.transport.pid ?? 0, "SIGKILL");
    expect(await isThere(id)).toBe(true);
    await expect.poll(() => isThere(id)).toBe(false);
  });

  it("are deleted when the only client that can call them makes room for others", async () => {
    const server = await startHttpServer(
      ["--no-token", "--profile", "code-executer", "--max-clients", "2"],
      environment,
    );
    const call = (name: string, client: string) =>
      exchange(server.url, statelessRequest("tools/call", { name, arguments: {} }, { client }));
    await call("start_code_executer", "one");
    const [held] = await idsThere();
    expect(held).toBeDefined();
    for (const other of ["two", "three", "four"]) await call("stop_code_executer", other);
    await expect.poll(() => isThere(held), { timeout: 20_000 }).toBe(false);
    await server.stop();
  });

  it("that no client of the server has created can be called by every client, over HTTP too", async () => {
    const made = await client.sandboxes.create();
    const server = await startHttpServer([], environment);
    const [one, other] = [await server.connect(), await server.connect()];
    for (const mcp of [one, other])
      expect(await mcp.result("get_sandbox", { id: made.id })).toMatchObject({ id: made.id });
    const own = await one.result("create_sandbox");
    expect(await other.failure("get_sandbox", { id: own.id })).toMatch(/not found/);
    expect(await server.stop()).toBe(0);
    await expect.poll(() => isThere(own.id)).toBe(false);
    expect(await isThere(made.id)).toBe(true);
  });
});

function isRunning(pid: number | null): boolean {
  try {
    return process.kill(pid ?? 0, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}
