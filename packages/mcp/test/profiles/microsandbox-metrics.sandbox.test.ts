// @module-tag no-sandboxes
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { connect } from "../support/mcp-connection.js";

const python = { sandbox: "my-python-env", namespace: "default" };

it.each([
  [
    "all it measures",
    {
      cpu: { usage_percent: 12.5 },
      memory: { usage_percent: 25, used_mb: 256, total_mb: 1024 },
      disk: { usage_percent: 30, used_mb: 1.5, total_mb: 5 },
    },
    { cpu_usage: 12.5, memory_usage: 256, disk_usage: 1_572_864 },
  ],
  ["nothing but its processor", { cpu: { usage_percent: 0 } }, { cpu_usage: 0 }],
])(
  "the profile microsandbox gives metrics in percent, MiB and bytes for an agent that says %s",
  async (_, system, expected) => {
    const cloud = createServer((request, response) => {
      const { port } = cloud.address() as AddressInfo;
      const sandbox = {
        id: "1",
        status: "running",
        public_host: `http://127.0.0.1:${port}`,
        auth_token: "a.b.c",
        token_expires_at: new Date(Date.now() + 86_400_000).toISOString(),
      };
      const template = { id: "1", name: "code-interpreter", is_active: true, status: "active" };
      const answers: Record<string, unknown> = {
        "/health": { status: "ok" },
        "/v1/templates": { data: [template] },
        "/v1/templates/code-interpreter": template,
        "/files/exists": { exists: true, path: "/workspace" },
        "/metrics/snapshot": { system },
      };
      const answer = answers[(request.url ?? "").replace(/\?.*/, "")] ?? sandbox;
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    }).listen(0, "127.0.0.1");
    await once(cloud, "listening");
    const { port } = cloud.address() as AddressInfo;
    const mcp = await connect({
      CLOUD_SANDBOX_MCP_PROFILE: "microsandbox",
      CLOUD_SANDBOX_API_KEY: "some-key",
      CLOUD_SANDBOX_BASE_URL: `http://127.0.0.1:${port}`,
    });
    try {
      await mcp.result("sandbox_start", python);
      expect(await mcp.result("sandbox_get_metrics", python)).toEqual({
        sandboxes: [{ name: "my-python-env", namespace: "default", running: true, ...expected }],
      });
    } finally {
      await mcp.client.close();
      cloud.close();
    }
  },
);
