import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type McpConnection } from "./mcp-connection.js";

let mcp: McpConnection;
let sandbox_id: unknown;
beforeAll(async () => {
  mcp = await connect();
  sandbox_id = (await mcp.result("create_sandbox")).id;
});
afterAll(() => mcp.client.close());

const write = (path: string, uri: string, into = sandbox_id): Promise<Record<string, unknown>> =>
  mcp.result("file_upload", { sandbox_id: into, path, uri });

/** One pixel. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("file_upload", () => {
  it.each([
    ["base64", "data:application/octet-stream;base64,AP8A", "00ff00"],
    ["text, escaped", "data:text/plain,a%20b%0A", "6120620a"],
    ["nothing", "data:,", ""],
  ])("writes %s from a data: URI", async (_, uri, hex) => {
    const written = await write("/workspace/upload", uri);
    expect(written).toEqual({ path: "/workspace/upload", size: hex.length / 2 });
    const read = await mcp.result("run_command", { sandbox_id, command: "xxd -p upload" });
    expect(read.stdout).toBe(hex === "" ? "" : `${hex}\n`);
  });

  it("copies a file of another sandbox, by the link that file_download gives", async () => {
    const path = "/workspace/a b/täglich #1.txt";
    await mcp.result("file_write", { sandbox_id, path, content: "copied" });
    const { uri } = await mcp.result("file_download", { sandbox_id, path });
    const { id } = await mcp.result("create_sandbox");
    expect(await write("/tmp/copy", String(uri), id as string)).toMatchObject({ size: 6 });
    expect(await mcp.result("file_read", { sandbox_id: id, path: "/tmp/copy" })).toMatchObject({
      content: "copied",
    });
    await mcp.result("delete_sandbox", { id });
  });

  it.each([
    ["a web address", "https://example.com/a", /data: URI or sandbox:.*curl/],
    ["a file of this machine", "file:///etc/passwd", /data: URI or sandbox:/],
    ["a sandbox that is not there", "sandbox://nowhere/files/tmp/a", /list_sandboxes/],
    ["a file that is not there", "sandbox://HERE/files/tmp/nothing", /file_list/],
    ["a path that is not served", "sandbox://HERE/files/etc/passwd", /under \/workspace or \/tmp/],
    ["a directory", "sandbox://HERE/files/workspace", /tar/],
    ["what is not encoded", "sandbox://HERE/files/tmp/%E0%A4%A", /not encoded/],
  ])("refuses %s", async (_, uri, step) => {
    const given = { sandbox_id, path: "/tmp/refused", uri: uri.replace("HERE", String(sandbox_id)) };
    expect(await mcp.failure("file_upload", given)).toMatch(step);
  });
});

describe("file_download", () => {
  it("links to bytes that are read as a resource", async () => {
    await write("/workspace/data.bin", "data:;base64,AP8A");
    const { content, structuredContent } = await mcp.call("file_download", {
      sandbox_id,
      path: "/workspace/data.bin",
    });
    const uri = `sandbox://${sandbox_id}/files/workspace/data.bin`;
    expect(structuredContent).toEqual({
      uri,
      path: "/workspace/data.bin",
      size: 3,
      mime_type: "application/octet-stream",
    });
    const mimeType = "application/octet-stream";
    expect(content).toContainEqual({ type: "resource_link", uri, name: "data.bin", mimeType, size: 3 });
    const { contents } = await mcp.client.readResource({ uri });
    expect(contents).toEqual([expect.objectContaining({ uri, blob: "AP8A" })]);
  });

  it("shows an image", async () => {
    await write("/workspace/dot.png", `data:image/png;base64,${png}`);
    const { content } = await mcp.call("file_download", { sandbox_id, path: "/workspace/dot.png" });
    expect(content).toContainEqual({ type: "image", mimeType: "image/png", data: png });
  });

  it("says what to do about what is too large to read, or a directory", async () => {
    await mcp.result("run_command", { sandbox_id, command: "head -c 5000000 /dev/zero > large" });
    const large = await mcp.result("file_download", { sandbox_id, path: "/workspace/large" });
    expect(large).toMatchObject({ size: 5_000_000, note: expect.stringMatching(/4 MiB.*get_preview_url/) });
    expect(await mcp.failure("file_download", { sandbox_id, path: "/workspace" })).toMatch(/tar/);
  });
});
