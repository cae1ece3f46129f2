import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type McpConnection } from "../support/mcp-connection.js";

describe("sandbox sizes on this machine", () => {
  let mcp: McpConnection;
  beforeAll(async () => {
    mcp = await connect({ CLOUD_SANDBOX_BACKEND: "local" });
  });
  afterAll(() => mcp.client.close());

  it("are those that were asked for", async () => {
    const made = await mcp.result("create_sandbox", { vcpu: 1, memory_mb: 256 });
    expect(made).toMatchObject({ resources: { vcpu: 1, memory_mb: 256 } });
    expect(made).not.toHaveProperty("note");
    const { memory } = await mcp.result("get_system_metrics", { sandbox_id: made.id });
    expect(memory).toMatchObject({ total_mb: 256 });
    await mcp.result("delete_sandbox", { id: made.id });
  });

  it("above the machine's are refused, with what it has", async () => {
    const sentence = await mcp.failure("create_sandbox", { memory_mb: 1_000_000 });
    expect(sentence).toMatch(
      /^The requested limits are larger than this machine, which has \d+ MiB.*Ask for less vcpu and memory_mb, or leave them out\.$/s,
    );
    expect(await mcp.failure("create_sandbox", { memory_mb: 1 })).toContain("128 to 1048576 MiB");
    expect(await mcp.failure("create_sandbox", { vcpu: 0 })).toContain("0.05 to 1024");
  });

  it("stay the same for a sandbox with a name", async () => {
    const { id } = await mcp.result("create_sandbox", { name: "small", memory_mb: 256 });
    expect(await mcp.result("create_sandbox", { name: "small", memory_mb: 256 })).toMatchObject({ id });
    expect(await mcp.failure("create_sandbox", { name: "small", memory_mb: 512 })).toContain(
      "of another size",
    );
    await mcp.result("delete_sandbox", { id });
  });
});

it("sandbox sizes in a cloud are the template's, and the cloud is asked for no others", async () => {
  const created: string[] = [];
  const cloud = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    if (request.method === "POST" && request.url === "/v1/sandboxes") created.push(body);
    const { port } = cloud.address() as AddressInfo;
    const sandbox = {
      id: "1",
      status: "running",
      public_host: `http://127.0.0.1:${port}`,
      resources: { vcpu: 2, memory_mb: 2048, disk_mb: 10_240 },
      auth_token: "a.b.c",
      token_expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    };
    const answer = request.url === "/health" ? { status: "ok" } : sandbox;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await once(cloud, "listening");
  const { port } = cloud.address() as AddressInfo;
  const mcp = await connect({
    CLOUD_SANDBOX_API_KEY: "some-key",
    CLOUD_SANDBOX_BASE_URL: `http://127.0.0.1:${port}`,
  });
  try {
    const made = await mcp.result("create_sandbox", { vcpu: 4 });
    expect(made.note).toContain("template's size");
    expect(created).toHaveLength(1);
    expect(created[0]).not.toContain("limits");
  } finally {
    await mcp.client.close();
    cloud.close();
  }
});
