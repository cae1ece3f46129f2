// @module-tag openssl
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { McpRunner } from "cloud-sandbox-mcp-runner";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { type SecretSite, startSecretSite } from "../support/secret-site.js";

const credential = "credential-of-the-server-0123456789";
const program = readFileSync(new URL("server.py", import.meta.url), "utf8");

// Only root can give a server a hosts file of its own.
describe.skipIf(process.getuid?.() !== 0)("an MCP server works with a token that it never holds:", () => {
  let site: SecretSite;
  let server: LocalServer;
  let client: SandboxClient;

  beforeAll(async () => {
    site = await startSecretSite();
    server = await startLocalServer({
      args: ["--pool", "0", "--trust-ca", site.authority, "--egress-allow-private", site.at],
      through: site.through,
    });
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  });
  afterAll(async () => {
    await client?.close();
    await server?.stop();
    await site?.[Symbol.asyncDispose]();
  });

  const asking = () => `import os, urllib.request
urllib.request.urlopen(urllib.request.Request("https://${site.at}/started", headers={"authorization": "Bearer " + os.environ["TOKEN"]}))
${program}`;

  test.each<
    [
      string,
      () => Promise<{ env?: Record<string, string>; file?: string; environment?: Record<string, string> }>,
    ]
  >([
    [
      "from its env",
      async () => ({ env: { TOKEN: ["$", "{MINE}"].join("") }, environment: { MINE: credential } }),
    ],
    ["from a variable", async () => ({ environment: { TOKEN: credential } })],
    [
      "from a file",
      async () => {
        const file = join(dirname(site.authority), "token");
        await writeFile(file, `${credential}\n`);
        return { file };
      },
    ],
  ])("%s", async (_, make) => {
    const { env, file, environment = {} } = await make();
    await using runner = new McpRunner({ client, environment, startSeconds: 30 });
    runner.addServer({
      name: "asking",
      command: "python3",
      args: ["-c", asking()],
      env,
      secrets: { TOKEN: { hosts: [site.at], file } },
    });
    site.asked.length = 0;
    await using session = await runner.createSession("asking");
    expect(site.asked).toMatchObject([{ path: "/started", authorization: `Bearer ${credential}` }]);
    const { content } = await session.callTool("variable", { name: "TOKEN" });
    expect(content).toEqual([{ type: "text", text: expect.stringMatching(/^csb_secret_[0-9a-f]{32}$/) }]);
  });

  test("one that is nowhere is an error that says so", async () => {
    await using runner = new McpRunner({ client, environment: {} });
    runner.addServer({ name: "lacking", command: "true", secrets: { TOKEN: { hosts: [site.at] } } });
    await expect(runner.createSession("lacking")).rejects.toThrow(
      /takes the secret TOKEN from the variable TOKEN/,
    );
  });
});
