// @module-tag openssl
import { SandboxClient } from "cloud-sandbox";
import { startLocalControlPlane } from "cloud-sandbox-local";
import { McpRunner } from "cloud-sandbox-mcp-runner";
import { expect, test } from "vitest";
import { scratchProject } from "../support/scratch-project.js";
import { startSecretSite } from "../support/secret-site.js";
import { startNpmRegistry } from "./npm-registry.js";

const credential = "sbp_credential-0123456789";
/** A server that others made, which sends its token to an address that can be set. */
const supabase = "@supabase/mcp-server-supabase@0.13.0";

test("an MCP server from npm works with a token that it never holds", { timeout: 200_000 }, async () => {
  await using registry = await startNpmRegistry(await scratchProject("mcp-server-supabase", [supabase]));
  await using site = await startSecretSite("supabase.secret.test", (request, response) => {
    response.setHeader("content-type", "application/json");
    // It repeats the token.
    response.end(JSON.stringify([{ id: "one", name: request.headers.authorization }]));
  });
  const fromNpm = `registry.test:${registry.port}`;
  const local = await startLocalControlPlane({
    pool: 0,
    trustCa: [site.authority],
    egress: { allowPrivate: [fromNpm, site.at], resolve: async () => ["127.0.0.1"] },
  });
  try {
    await using client = new SandboxClient({ apiKey: local.apiKey, baseUrl: local.url });
    await client.secrets.set("supabase", { value: credential, hosts: [site.at] });
    await using runner = new McpRunner({ client });
    runner.addServer({
      name: "supabase",
      command: "mcp-server-supabase",
      args: [`--api-url=https://${site.at}`, "--features=account"],
      installCommands: [
        `npm install --global --no-audit --no-fund --registry http://${fromNpm}/ ${supabase}`,
      ],
      secrets: { SUPABASE_ACCESS_TOKEN: { from: "supabase" } },
    });
    await using session = await runner.createSession("supabase");
    const { content } = await session.callTool("list_organizations", {});
    expect(site.asked).toMatchObject([{ path: "/v1/organizations", authorization: `Bearer ${credential}` }]);
    expect(JSON.stringify(content)).toContain(`Bearer ${"*".repeat(credential.length)}`);
    expect(JSON.stringify(content)).not.toContain(credential);
    const { stdout } = await session.sandbox.commands.run("cat /proc/[0-9]*/environ");
    expect(stdout).toMatch(/SUPABASE_ACCESS_TOKEN=csb_secret_[0-9a-f]{32}/);
    expect(stdout).not.toContain(credential);
  } finally {
    await local.close();
  }
});
