import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type McpConnection, serverFile } from "../support/mcp-connection.js";

const credential = "credential-of-the-assistant-0123456789";
const settings = { TOKEN: credential, CLOUD_SANDBOX_MCP_SECRETS: "TOKEN@api.example.com" };
const placeholder = /csb_secret_[0-9a-f]{32}/;

describe("sandboxes have the secrets of the server's settings", () => {
  let mcp: McpConnection;
  beforeAll(async () => {
    mcp = await connect(settings);
  });
  afterAll(() => mcp?.client.close());

  it.each([
    ["of their own", "execute_code_isolated", async () => ({})],
    [
      "made with create_sandbox",
      "execute_code",
      async () => ({ sandbox_id: (await mcp.result("create_sandbox")).id }),
    ],
  ])("%s", async (_, tool, where) => {
    const code = "import os; print(os.environ['TOKEN'])";
    const answer = JSON.stringify(await mcp.call(tool, { language: "python", code, ...(await where()) }));
    expect(answer).toMatch(placeholder);
    expect(answer + mcp.stderr()).not.toContain(credential);
  });

  it("and none without internet access", async () => {
    const { id } = await mcp.result("create_sandbox", { internet_access: false });
    const code = "import os; print(os.environ.get('TOKEN'))";
    const run = { sandbox_id: id, language: "python", code };
    expect(await mcp.result("execute_code", run)).toMatchObject({ stdout: "None\n" });
  });

  it("create_sandbox names stored ones, and says which there are none of", async () => {
    const failure = await mcp.failure("create_sandbox", { secrets: { OTHER: "not-stored" } });
    expect(failure).toContain('There is no stored secret "not-stored"');
  });
});

it("another profile's sandboxes have them too", async () => {
  const mcp = await connect({ ...settings, CLOUD_SANDBOX_MCP_PROFILE: "microsandbox" });
  try {
    await mcp.call("sandbox_start", { sandbox: "one", namespace: "default" });
    const answer = JSON.stringify(
      await mcp.call("sandbox_run_command", {
        sandbox: "one",
        namespace: "default",
        command: "sh",
        args: ["-c", "echo $TOKEN"],
      }),
    );
    expect(answer).toMatch(placeholder);
  } finally {
    await mcp.client.close();
  }
});

it.each([
  ["TOKEN@api.example.com", {}, "names TOKEN, which is not set"],
  [`TOKEN=${credential}`, {}, "has NAME@HOST or NAME:STORED"],
])("the server does not start with %s", (secrets, variables, said) => {
  const { TOKEN: _, ...others } = process.env;
  const env = { ...others, ...variables, CLOUD_SANDBOX_MCP_SECRETS: secrets };
  const { status, stderr } = spawnSync(process.execPath, [serverFile], { env, encoding: "utf8" });
  expect(stderr).toContain(said);
  expect(stderr).not.toContain(credential);
  expect(status).toBe(1);
});
