import { type Resource, ResourceListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type McpConnection } from "../support/mcp-connection.js";

let mcp: McpConnection;
let id: string;
let changes = 0;

beforeAll(async () => {
  mcp = await connect({ CLOUD_SANDBOX_BACKEND: "local" });
  mcp.client.setNotificationHandler(ResourceListChangedNotificationSchema, () => {
    changes += 1;
  });
  id = String((await mcp.result("create_sandbox")).id);
  const code = `
mkdir -p '/workspace/data set/deep' /workspace/many
printf 'a,b\\n1,2\\n' > '/workspace/data set/deep/table.csv'
printf '\\x89PNG\\x00\\xff' > /workspace/plot.png
printf '<script>alert(1)</script>' > /workspace/page.html
head -c 5000000 /dev/zero > /workspace/large.bin
seq -f '/workspace/many/%g' 3000 | xargs touch`;
  await mcp.result("execute_code", { sandbox_id: id, language: "bash", code });
});
afterAll(() => mcp.client.close());

const listed = async (): Promise<Resource[]> => (await mcp.client.listResources()).resources;
const read = async (uri: string) => (await mcp.client.readResource({ uri })).contents[0];
const readJson = async (uri: string) => {
  const contents = await read(uri);
  return JSON.parse(contents !== undefined && "text" in contents ? contents.text : "");
};

describe("a list of resources", () => {
  it("has the templates, and the sandboxes of this client with their files", async () => {
    const uris = (await listed()).map(({ uri }) => uri);
    expect(uris).toEqual(
      expect.arrayContaining([
        `sandbox://${id}`,
        `sandbox://${id}/files/workspace`,
        "template://code-interpreter",
      ]),
    );
  });

  it("does not have a sandbox whose deadline has passed", async () => {
    const { id: brief } = await mcp.result("create_sandbox", { timeout_seconds: 1 });
    const isListed = async () => (await listed()).some(({ uri }) => uri === `sandbox://${brief}`);
    await expect.poll(isListed).toBe(false);
    expect(await mcp.result("delete_sandbox", { id: brief })).toMatchObject({ status: "not_found" });
  });

  it("has nothing of other clients", async () => {
    const other = await connect({ CLOUD_SANDBOX_BACKEND: "local" });
    const { resources } = await other.client.listResources();
    expect(resources.filter(({ uri }) => uri.startsWith("sandbox://"))).toEqual([]);
    await expect(other.client.readResource({ uri: `sandbox://${id}` })).rejects.toThrow(/list_sandboxes/);
    await other.client.close();
  });

  it("refuses a cursor that it did not issue", async () => {
    await expect(mcp.client.listResources({ cursor: "../x" })).rejects.toThrow(/list again without it/);
  });

  it("is reported as changed when a sandbox comes and when it goes", async () => {
    const before = changes;
    const { id: short } = await mcp.result("create_sandbox");
    await expect.poll(() => changes).toBe(before + 1);
    await mcp.result("delete_sandbox", { id: short });
    await expect.poll(() => changes).toBe(before + 2);
    expect((await listed()).map(({ uri }) => uri)).not.toContain(`sandbox://${short}`);
  });

  it.each([
    ["it was made with", 1],
    ["it was given later", 600],
  ])("is reported as changed when a sandbox comes to the deadline that %s", async (_, timeout_seconds) => {
    const before = changes;
    const { id: brief } = await mcp.result("create_sandbox", { timeout_seconds });
    if (timeout_seconds > 1) await mcp.result("update_sandbox_timeout", { id: brief, timeout_seconds: 1 });
    await expect.poll(() => changes).toBe(before + 2);
    expect(await mcp.failure("get_sandbox", { id: brief })).toMatch(/list_sandboxes|create_sandbox/);
  });
});

describe("a resource", () => {
  it("of a template has the fields of the template", async () => {
    expect(await readJson("template://code-interpreter")).toMatchObject({ name: "code-interpreter" });
  });

  it("of a sandbox has its fields, but no token", async () => {
    const facts = await readJson(`sandbox://${id}`);
    expect(facts).toMatchObject({ id, status: "running", files: `sandbox://${id}/files/workspace` });
    expect(JSON.stringify(facts)).not.toMatch(/token/i);
  });

  it("of a directory lists its entries, and the URI of the next page", async () => {
    const listing = await readJson(`sandbox://${id}/files/workspace`);
    expect(listing).toMatchObject({ path: "/workspace", truncated: false });
    const [entry] = listing.files.filter(({ name }: { name: string }) => name === "data set");
    expect(entry).toMatchObject({ is_directory: true });
    const deeper = await readJson(`${entry.uri}/deep`);
    expect(await read(deeper.files[0].uri)).toMatchObject({ mimeType: "text/csv", text: "a,b\n1,2\n" });
  });

  it.each(["files", "files/"])("of all files, at %s, lists the two directories with files", async (path) => {
    const { files } = await readJson(`sandbox://${id}/${path}`);
    expect(files.map(({ name }: { name: string }) => name)).toEqual(["workspace", "tmp"]);
  });

  it("of a directory with thousands of entries says how many were left out", async () => {
    const listing = await readJson(`sandbox://${id}/files/workspace/many`);
    expect(listing).toMatchObject({ total_files: 3000, truncated: true });
    expect(listing.files.length).toBe(listing.count);
    expect(JSON.stringify(listing).length).toBeLessThan(60_000);
  });

  it("of bytes is a blob with its media type", async () => {
    expect(await read(`sandbox://${id}/files/workspace/plot.png`)).toMatchObject({
      // An image by its name alone.
      mimeType: "application/octet-stream",
      blob: Buffer.from("\x89PNG\x00\xff", "latin1").toString("base64"),
    });
  });

  it("of a page is its text, unchanged", async () => {
    expect(await read(`sandbox://${id}/files/workspace/page.html`)).toMatchObject({
      mimeType: "text/html",
      text: "<script>alert(1)</script>",
    });
  });

  it.each([
    [
      "a file that is too large",
      "files/workspace/large.bin",
      /at most 4194304 bytes: read parts of it with run_command/,
    ],
    [
      "a file that is not there",
      "files/workspace/none",
      /There is no file at \/workspace\/none; file_list shows/,
    ],
    ["a directory that is not there", "files/workspace/none/at-all", /file_list/],
    ["a path that leads out", "files/workspace/..%2F..%2Fetc%2Fpasswd", /./],
    ["a path outside", "files/etc/passwd", /\/workspace/],
    ["an encoding that is none", "files/workspace/%E0%A4%A", /invalid percent escape/],
  ])("of %s is an error that says what to do", async (_, path, message) => {
    await expect(read(`sandbox://${id}/${path}`)).rejects.toThrow(message);
  });

  it.each(["sandbox://nothing", "template://nothing", "sandbox://nothing/files/workspace/x", "other://x"])(
    "with the URI %s is not found",
    async (uri) => {
      await expect(read(uri)).rejects.toMatchObject({ code: -32602 });
    },
  );
});

describe("a completion", () => {
  const complete = async (uri: string, name: string, value: string, given?: Record<string, string>) => {
    const { completion } = await mcp.client.complete({
      ref: { type: "ref/resource", uri },
      argument: { name, value },
      ...(given && { context: { arguments: given } }),
    });
    return completion.values;
  };
  const files = "sandbox://{id}/files{/path*}";

  it("of a sandbox has none whose deadline has passed", async () => {
    const { id: brief } = await mcp.result("create_sandbox", { timeout_seconds: 1 });
    await expect.poll(() => mcp.call("get_sandbox", { id: brief })).toMatchObject({ isError: true });
    expect(await complete("sandbox://{id}", "id", "")).toEqual([id]);
  });

  it.each([
    [
      "a template by its beginning",
      () => complete("template://{name}", "name", "code-i"),
      ["code-interpreter"],
    ],
    [
      "a template by what is like it",
      () => complete("template://{name}", "name", "interpreter"),
      ["code-interpreter"],
    ],
    ["a sandbox", () => complete("sandbox://{id}", "id", id.slice(0, 4)), "id"],
    ["a sandbox whose files are wanted", () => complete(files, "id", ""), "id"],
    ["a place for files", () => complete(files, "path", "wor", { id }), ["workspace"]],
    ["a file", () => complete(files, "path", "workspace/pl", { id }), ["workspace/plot.png"]],
    ["a path in no sandbox", () => complete(files, "path", "workspace/", { id: "nothing" }), []],
  ] as const)("of %s", async (_, ask, wanted) => {
    expect(await ask()).toEqual(wanted === "id" ? [id] : wanted);
  });
});

it("the templates of URIs are listed", async () => {
  const { resourceTemplates } = await mcp.client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    "template://{name}",
    "sandbox://{id}",
    "sandbox://{id}/files{/path*}",
  ]);
});
