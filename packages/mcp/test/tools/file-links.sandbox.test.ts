import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type McpConnection } from "../support/mcp-connection.js";

let mcp: McpConnection;
let sandbox_id: unknown;
beforeAll(async () => {
  mcp = await connect();
  sandbox_id = (await mcp.result("create_sandbox")).id;
});
afterAll(() => mcp.client.close());

const write = (path: string, uri: string, into = sandbox_id): Promise<Record<string, unknown>> =>
  mcp.result("file_upload", { sandbox_id: into, path, uri });

/** A PNG of one pixel. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

describe("file_upload", () => {
  it.each([
    ["base64", "data:application/octet-stream;base64,AP8A", "00ff00"],
    ["text, escaped", "data:text/plain,a%20b%0A", "6120620a"],
    ["bytes, escaped", "data:text/plain,%FF%fe%25", "fffe25"],
    ["letters that are not escaped", "data:,ä#b?", "c3a423623f"],
    ["base64 in lines", "data:;base64,AP8\r\n A", "00ff00"],
    ["base64, escaped", "data:;base64,AP8%41%0A", "00ff00"],
    ["base64 without its end", "data:;base64,AP8", "00ff"],
    ["nothing", "data:,", ""],
  ])("writes %s from a data: URI", async (_, uri, hex) => {
    const written = await write("/workspace/upload", uri);
    expect(written).toEqual({ path: "/workspace/upload", size: hex.length / 2 });
    const read = await mcp.result("run_command", { sandbox_id, command: "od -An -v -tx1 upload" });
    expect(String(read.stdout).replaceAll(/\s/g, "")).toBe(hex);
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
    ["what is not encoded", "sandbox://HERE/files/tmp/%E0%A4%A", /invalid percent escape/],
    ["data that is not encoded", "data:,100%", /invalid percent escape.*%25/],
    ["what is no base64", "data:;base64,!!!notbase64***", /not valid base64 or is cut off.*again/],
    ["base64 with something behind it", "data:;base64,aGVsbG8=trailing", /not valid base64 or is cut off/],
    ["base64 that is cut off", "data:;base64,aGVsb", /not valid base64 or is cut off/],
    ["base64 of another alphabet", "data:;base64,-_-_", /not valid base64 or is cut off/],
  ])("refuses %s", async (_, uri, step) => {
    const given = { sandbox_id, path: "/tmp/refused", uri: uri.replace("HERE", String(sandbox_id)) };
    expect(await mcp.failure("file_upload", given)).toMatch(step);
  });
});

/** Makes a link to a file of this size. The file is sparse, so that nothing is written. */
async function linkTo(size: string, link: string): Promise<void> {
  const command = `echo ${png} | base64 -d > sparse && truncate -s ${size} sparse && ln -sfn sparse ${link}`;
  await mcp.result("run_command", { sandbox_id, command });
}

describe("a link to a file", () => {
  const uriOf = (link: string): string => `sandbox://${sandbox_id}/files/workspace/${link}`;

  it("is read as a resource up to the size limit of the file it leads to", async () => {
    await linkTo("4194305", "link");
    await expect(mcp.client.readResource({ uri: uriOf("link") })).rejects.toThrow(/at most 4194304 bytes/);
    await linkTo("4194304", "link");
    const [content] = (await mcp.client.readResource({ uri: uriOf("link") })).contents;
    const [bytes, end] = [Buffer.from(png, "base64"), Buffer.alloc(4_194_304)];
    bytes.copy(end);
    expect(content).toMatchObject({ blob: end.toString("base64") });
  });

  it("is copied up to the size limit of the file it leads to", async () => {
    await linkTo("67108865", "link");
    const given = { sandbox_id, path: "/tmp/copied", uri: uriOf("link") };
    expect(await mcp.failure("file_upload", given)).toMatch(/at most 67108864 bytes can be copied/);
  });

  it("is an image as large as the file it leads to", async () => {
    await linkTo("3145728", "link.png");
    const shown = await mcp.call("file_download", { sandbox_id, path: "/workspace/link.png" });
    expect(shown.structuredContent).toMatchObject({ size: 3_145_728 });
    expect(shown.content.map(({ type }) => type)).toEqual(["text", "resource_link", "image"]);
    await linkTo("3145729", "link.png");
    const { content } = await mcp.call("file_download", { sandbox_id, path: "/workspace/link.png" });
    expect(content.map(({ type }) => type)).toEqual(["text", "resource_link"]);
    expect(content).toContainEqual(expect.objectContaining({ type: "resource_link", size: 3_145_729 }));
  });

  it("has no size where that is unknown, and is refused if it leads out of the served directories", async () => {
    await linkTo("4194305", "link");
    const large = await mcp.result("file_download", { sandbox_id, path: "/workspace/link" });
    expect(large).toEqual({
      uri: uriOf("link"),
      path: "/workspace/link",
      mime_type: "application/octet-stream",
      note: expect.stringMatching(/4 MiB/),
    });
    await mcp.result("run_command", { sandbox_id, command: "ln -s /etc/passwd out" });
    expect(await mcp.failure("file_download", { sandbox_id, path: "/workspace/out" })).toMatch(
      /is not in \/workspace and \/tmp/,
    );
  });
});

describe("file_download", () => {
  it("links to bytes that can be read as a resource", async () => {
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

  it.each(["written", "/workspace//written", "/workspace/none/../written", "./written"])(
    "links to what %s leads to",
    async (path) => {
      await write("/workspace/written", "data:,a");
      const uri = `sandbox://${sandbox_id}/files/workspace/written`;
      expect(await mcp.result("file_download", { sandbox_id, path })).toMatchObject({
        uri,
        path: "/workspace/written",
      });
      expect(await write("/tmp/copy", uri)).toMatchObject({ size: 1 });
    },
  );

  it.each([
    ["dot.png", png, "image/png"],
    ["photo.png", gif, "image/gif"],
    ["shot.jpg", png, "image/png"],
    ["empty.png", "", undefined],
    ["note.webp", Buffer.from("plain text").toString("base64"), undefined],
    ["vector.png", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>").toString("base64"), undefined],
    ["begun.png", png.slice(0, 60), undefined],
  ])("labels an image by its bytes, and shows nothing else as one: %s", async (name, data, mimeType) => {
    const path = `/workspace/${name}`;
    await write(path, `data:;base64,${data}`);
    const { content, structuredContent } = await mcp.call("file_download", { sandbox_id, path });
    const images = content.filter(({ type }) => type === "image");
    expect(images).toEqual(mimeType === undefined ? [] : [{ type: "image", mimeType, data }]);
    const { mime_type, note, uri } = structuredContent as Record<string, string>;
    if (mimeType === undefined) expect(note).toMatch(/^Not shown: despite its name/);
    const { contents } = await mcp.client.readResource({ uri: uri ?? "" });
    expect(contents[0]?.mimeType).toBe(mime_type);
    expect(mime_type).toMatch(mimeType ?? /^(text\/plain|application\/octet-stream)$/);
  });

  it("says what to do about a file that is too large to read, or a directory", async () => {
    await mcp.result("run_command", { sandbox_id, command: "head -c 5000000 /dev/zero > large" });
    const large = await mcp.result("file_download", { sandbox_id, path: "/workspace/large" });
    expect(large).toMatchObject({ size: 5_000_000, note: expect.stringMatching(/4 MiB.*get_preview_url/) });
    expect(await mcp.failure("file_download", { sandbox_id, path: "/workspace" })).toMatch(/tar/);
  });
});
