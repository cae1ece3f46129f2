import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type McpConnection } from "../support/mcp-connection.js";

let mcp: McpConnection;
beforeAll(async () => {
  mcp = await connect({ CLOUD_SANDBOX_MCP_DETACH_AFTER: "50" });
});
afterAll(() => mcp.client.close());

describe("a template of one's own", () => {
  it("is built, found, used, replaced and deleted", async () => {
    const definition = {
      name: "greeter",
      from: "base",
      commands: ["echo hello > /greeting", "cat /greeting"],
      env_vars: { WHO: "world" },
    };
    const messages: string[] = [];
    const onprogress = ({ message }: { message?: string | undefined }): void =>
      void messages.push(message ?? "");
    const built = await mcp.result("build_template", definition, { onprogress });
    expect(built).toMatchObject({ name: "greeter", status: "active", log: expect.stringContaining("hello") });
    expect(messages.join("\n")).toContain("hello");

    const { data } = await mcp.result("list_templates", { query: "GREET" });
    expect(data).toEqual([expect.objectContaining({ name: "greeter" })]);
    const run = { language: "bash", code: 'echo "$(cat /greeting) $WHO"', template_name: "greeter" };
    expect(await mcp.result("execute_code_isolated", run)).toMatchObject({ stdout: "hello world\n" });

    expect(await mcp.failure("build_template", definition)).toMatch(/greeter.*get_template/);
    const changed = { ...definition, commands: ["echo bye > /greeting"], update: true };
    expect(await mcp.result("build_template", changed)).toMatchObject({ status: "active" });

    expect(await mcp.result("delete_template", { name: "greeter" })).toEqual({
      name: "greeter",
      status: "deleted",
    });
    expect(await mcp.failure("delete_template", { name: "greeter" })).toMatch(/list_templates/);
  });

  it("that cannot be built says why", async () => {
    const definition = { name: "broken", from: "base", commands: ["echo so far; exit 3"] };
    const sentence = await mcp.failure("build_template", definition);
    expect(sentence).toMatch(/so far[\s\S]*call build_template again/);
    const { data } = await mcp.result("list_templates", { query: "broken" });
    expect(data).toEqual([expect.objectContaining({ name: "broken", status: "failed" })]);
    const { resources } = await mcp.client.listResources();
    expect(resources.find(({ name }) => name === "broken")?.description).toMatch(/ It is failed\.$/);
  });

  it("that needs root, on a machine without it, says in one line what is possible", async () => {
    const definition = {
      name: "rooted",
      from: "base",
      commands: ["apt-get update && apt-get install -y hello"],
    };
    const sentence = await mcp.failure("build_template", definition);
    const said = sentence.split("\n").filter((line) => !/^Step 1\/1: RUN/.test(line));
    expect(said).toEqual([expect.stringMatching(/^apt-get needs root, .*install with pip or npm instead/)]);
    const provided = { ...definition, commands: ["apt-get update 2>/dev/null || echo without"] };
    expect(await mcp.result("build_template", { ...provided, update: true })).toMatchObject({
      status: "active",
    });
  });

  it("whose build takes longer is built in the background", async () => {
    const impatient = await connect({ CLOUD_SANDBOX_MCP_DETACH_AFTER: "1" });
    try {
      const definition = { name: "slow", from: "base", commands: ["sleep 8"] };
      const built = await impatient.result("build_template", definition);
      expect(built).toMatchObject({
        name: "slow",
        status: "building",
        note: expect.stringMatching(/get_template/),
      });
      const status = async (): Promise<unknown> =>
        (await impatient.result("get_template", { name: "slow" })).status;
      await expect.poll(status, { timeout: 40_000 }).toBe("active");
    } finally {
      await impatient.client.close();
    }
  });

  it("is not kept if its build is cancelled", async () => {
    const definition = { name: "cancelled", from: "base", commands: ["echo begun; sleep 45678"] };
    const cancellation = new AbortController();
    const hasBegun = new Promise<void>((resolve) => {
      const onprogress = ({ message = "" }: { message?: string | undefined }): void => {
        if (message.includes("begun")) resolve();
      };
      const options = { onprogress, signal: cancellation.signal };
      mcp.call("build_template", definition, options).catch(() => undefined);
    });
    await hasBegun;
    cancellation.abort();
    const found = async (): Promise<unknown> =>
      (await mcp.result("list_templates", { query: "cancelled" })).count;
    await expect.poll(found).toBe(0);
    expect(await mcp.result("build_template", { ...definition, commands: [] })).toMatchObject({
      status: "active",
    });
  });

  it.each([
    ["an image that this machine cannot have", { name: "odd", from: "windows:11" }],
    ["commands that are none", { name: "odd", commands: [""] }],
    ["the public ones' name", { name: "base", commands: ["true"] }],
  ])("is refused for %s", async (_, definition) => {
    expect(await mcp.failure("build_template", definition)).not.toMatch(/does not know|undefined/);
  });

  it("can be deleted, unlike the templates of the server", async () => {
    expect(await mcp.failure("delete_template", { name: "base" })).toMatch(/list_templates/);
  });
});
