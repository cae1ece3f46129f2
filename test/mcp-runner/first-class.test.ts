import { SandboxClient } from "cloud-sandbox";
import { McpRunner } from "cloud-sandbox-mcp-runner";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { connect, type McpConnection, textOf } from "../../packages/mcp/test/support/mcp-connection.js";
import { type ServersBackend, startServersBackend } from "./other-mcp-servers.js";

// The first session installs the server, which takes npm minutes on a machine that is busy with other tests.
const busy = { timeout: 240_000 };

let backend: ServersBackend;
let server: { readonly command: string; readonly installCommands: string[] };
beforeAll(async () => {
  backend = await startServersBackend();
  server = { command: "mcp-server-everything", installCommands: [backend.installCommand] };
  await using client = new SandboxClient({ apiKey: backend.local.apiKey, baseUrl: backend.local.url });
  await using runner = new McpRunner({ client });
  runner.addServer({ name: "every", ...server });
  await runner.discoverTools("every");
}, busy.timeout);
afterAll(() => backend?.[Symbol.asyncDispose]());

describe.each(["hopx", "codemode"])("a server that --mcp-server names, with profile %s", (profile) => {
  let mcp: McpConnection;
  const heard: { method: string; params?: unknown }[] = [];

  beforeAll(async () => {
    const { local } = backend;
    mcp = await connect({
      CLOUD_SANDBOX_API_KEY: local.apiKey,
      CLOUD_SANDBOX_BASE_URL: local.url,
      CLOUD_SANDBOX_MCP_CONFIG: JSON.stringify({ every: server }),
      CLOUD_SANDBOX_MCP_SERVER: "every",
      CLOUD_SANDBOX_MCP_PROFILE: profile,
    });
    mcp.client.fallbackNotificationHandler = async (notification) => void heard.push(notification);
    // The server may come later than the list of tools.
    const names = async () => (await mcp.client.listTools()).tools.map(({ name }) => name);
    await vi.waitUntil(async () => (await names()).includes("every__echo"), busy);
  }, busy.timeout);
  afterAll(() => mcp?.client.close());

  test("lists its prompts with their arguments, gets them, and completes arguments", async () => {
    const { prompts } = await mcp.client.listPrompts();
    const theirs = prompts.filter(({ name }) => name.startsWith("every__"));
    expect(theirs.map(({ name }) => name)).toContain("every__simple-prompt");
    expect(theirs.find(({ name }) => name === "every__args-prompt")).toMatchObject({
      arguments: [
        { name: "city", required: true, description: expect.any(String) },
        { name: "state", required: false },
      ],
    });
    const got = await mcp.client.getPrompt({
      name: "every__args-prompt",
      arguments: { city: "Paris", state: "Texas" },
    });
    expect(got.messages).toEqual([
      { role: "user", content: { type: "text", text: expect.stringContaining("Paris, Texas") } },
    ]);
    const completed = await mcp.client.complete({
      ref: { type: "ref/prompt", name: "every__completable-prompt" },
      argument: { name: "name", value: "A" },
      context: { arguments: { department: "Engineering" } },
    });
    expect(completed.completion.values).toEqual(["Alice"]);
    await expect(mcp.client.getPrompt({ name: "every__args-prompt", arguments: {} })).rejects.toThrow(/city/);
  });

  test("lists its resources and templates, reads them, and completes variables", async () => {
    const { resources } = await mcp.client.listResources();
    const [first] = resources.filter(({ uri }) => uri.startsWith("mcp-server://every/"));
    expect(first).toMatchObject({ name: expect.stringMatching(/^every__/) });
    const { contents } = await mcp.client.readResource({ uri: first?.uri ?? "" });
    expect(contents).toMatchObject([{ uri: first?.uri, text: expect.stringMatching(/./) }]);

    const { resourceTemplates } = await mcp.client.listResourceTemplates();
    const theirs = resourceTemplates.filter(({ name }) => name.startsWith("every__"));
    const template = theirs.find(({ uriTemplate }) => uriTemplate.includes("text"))?.uriTemplate ?? "";
    expect(template).toBe("mcp-server://every/demo%3A%2F%2Fresource%2Fdynamic%2Ftext%2F{resourceId}");
    const read = await mcp.client.readResource({ uri: template.replace("{resourceId}", "7") });
    expect(read.contents).toMatchObject([{ text: expect.stringContaining("Resource 7") }]);
    const completed = await mcp.client.complete({
      ref: { type: "ref/resource", uri: template },
      argument: { name: "resourceId", value: "7" },
    });
    expect(completed.completion.values).toEqual(["7"]);
    await expect(mcp.client.readResource({ uri: template.replace("{resourceId}", "none") })).rejects.toThrow(
      /every.*cannot read demo:\/\/resource\/dynamic\/text\/none/,
    );
  });

  test("says that its resources have changed, and lists those that have come", async () => {
    const uris = async () => (await mcp.client.listResources()).resources.map(({ uri }) => uri);
    const before = await uris();
    const made = { name: "note.gz", data: "data:text/plain,hello", outputType: "resourceLink" };
    const { content } = await mcp.call("every__gzip-file-as-resource", made);
    const [link] = content.flatMap((part) => (part.type === "resource_link" ? [part.uri] : []));
    expect(before).not.toContain(link);
    await expect.poll(uris).toContain(link);
    const changes = heard.map(({ method }) => method);
    expect(changes).toContain("notifications/resources/list_changed");
    const { contents } = await mcp.client.readResource({ uri: link ?? "" });
    expect(contents).toMatchObject([{ mimeType: "application/gzip", blob: expect.any(String) }]);
  });

  test("passes its log messages on during a call, of the level that the client wants", async () => {
    const messages = () => heard.filter(({ method }) => method === "notifications/message").length;
    await mcp.client.setLoggingLevel("debug");
    await mcp.call("every__toggle-simulated-logging");
    const long = mcp.call("every__trigger-long-running-operation", { duration: 12, steps: 2 });
    await expect.poll(messages, { timeout: 30_000 }).toBeGreaterThan(0);
    await mcp.call("every__toggle-simulated-logging");
    expect(textOf((await long).content)).toContain("completed");
  }, 60_000);
});
