import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { FileContent } from "../../src/index.js";
import { carriers, rejection } from "../support/clients.js";
import { ok, sandboxWith } from "../support/sandbox-of-service.js";

async function* pieces(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

function lockedStream(): ReadableStream {
  const stream = new Blob(["text"]).stream();
  stream.getReader();
  return stream;
}

/**
 * A sandbox as HOPX's cloud describes it. It states no isolation, from which the client sees that it has no extensions.
 */
const cloud = { isolation: undefined };

describe.each(carriers)("over %s, files", (_, carrier) => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);

  test("of text are written as text", async () => {
    const { sandbox, agent } = await sandboxWith(
      { "POST /files/write": ok({ success: true, path: "/workspace/a", size: 6 }) },
      carrier,
    );
    const written = await sandbox.files.write("a", "grüße", { mode: "0600", overwrite: false });
    expect(written).toEqual({ path: "/workspace/a", size: 6 });
    expect(agent.requests[0]?.json).toEqual({ path: "a", content: "grüße", mode: "0600", overwrite: false });
  });

  test.each<[string, string | Uint8Array | Blob]>([
    ["bytes", bytes],
    ["a blob", new Blob([bytes])],
    ["a long text", "x".repeat(300_000)],
  ])(
    "of %s with a mode are uploaded with it, and refused by the cloud if they are no text",
    async (_, content) => {
      const routes = { "POST /files/upload": ok({}), "POST /files/write": ok({}) };
      const { sandbox, agent } = await sandboxWith(routes, carrier);
      const size = new Blob([content]).size;
      const chosen = { mode: "0755", overwrite: false };
      expect(await sandbox.files.write("a", content, chosen)).toEqual({ path: "a", size });
      const request = agent.requests.find(({ method }) => method === "POST");
      expect(request?.path).toBe("/files/upload?path=a&mode=0755&overwrite=false");
      expect(request?.body.length).toBe(size);
      const hopx = await sandboxWith(routes, carrier, cloud);
      const written = hopx.sandbox.files.write("a", content, chosen);
      if (typeof content === "string") {
        await written;
        expect(hopx.agent.requests[0]?.json).toEqual({ path: "a", content, ...chosen });
      } else {
        expect(await rejection(written)).toMatchObject({
          name: "ValidationError",
          message: expect.stringContaining("chmod"),
        });
        expect(hopx.agent.requests).toEqual([]);
      }
    },
  );

  test.each<[string, string | Uint8Array | Blob]>([
    ["bytes", bytes],
    ["a blob", new Blob([bytes])],
    ["a long text", "x".repeat(300_000)],
  ])("of %s are uploaded to the cloud in a form, with the destination first", async (_, content) => {
    const { sandbox, agent } = await sandboxWith({ "POST /files/upload": ok({}) }, carrier, cloud);
    const size = new Blob([content]).size;
    expect(await sandbox.files.write('/workspace/"a".bin', content)).toEqual({
      path: '/workspace/"a".bin',
      size,
    });
    const [request] = agent.requests;
    expect(request?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(request?.text.indexOf('name="path"')).toBeGreaterThan(0);
    expect(request?.text.indexOf('name="path"')).toBeLessThan(request?.text.indexOf('name="file"') ?? 0);
  });

  test.each<[string, () => FileContent]>([
    ["Node.js", () => Readable.from([Buffer.from("grüß"), "e"])],
    ["the web", () => new Blob(["grüße"]).stream()],
    ["one's own making", () => pieces("grü", "ße")],
  ])("are written from a stream of %s", async (_, stream) => {
    const { sandbox, agent } = await sandboxWith(
      { "POST /files/upload": ok({}), "POST /files/write": ok({}) },
      carrier,
    );
    expect(await sandbox.files.write("a", stream())).toEqual({ path: "a", size: 7 });
    expect(agent.requests[0]?.text).toBe("grüße");
    await sandbox.files.write("a", stream(), { mode: "0600" });
    expect(agent.requests[1]?.path).toBe("/files/upload?path=a&mode=0600");
    expect(agent.requests[1]?.text).toBe("grüße");
  });

  test("are not written from a stream that fails, and its error is the call's", async () => {
    const { sandbox, agent } = await sandboxWith({}, carrier);
    const missing = createReadStream(new URL("no-such-file", import.meta.url));
    expect(await rejection(sandbox.files.write("a", missing))).toMatchObject({ code: "ENOENT" });
    expect(agent.requests).toEqual([]);
  });

  test("stop reading a stream when the signal fires", async () => {
    const { sandbox, agent } = await sandboxWith({}, carrier);
    let isCancelled = false;
    const cancel = (): void => {
      isCancelled = true;
    };
    const silent = new Readable({ read: () => undefined });
    for (const stream of [silent, new ReadableStream<Uint8Array>({ cancel })]) {
      const signal = AbortSignal.abort("enough");
      expect(await rejection(sandbox.files.write("a", stream, { signal }))).toMatchObject({
        name: "AbortError",
      });
    }
    expect({ destroyed: silent.destroyed, isCancelled }).toEqual({ destroyed: true, isCancelled: true });
    expect(agent.requests).toEqual([]);
  });

  test.each<[string, unknown]>([
    ["null", null],
    ["undefined", undefined],
    ["a number", 5],
    ["an object", { a: 1 }],
    ["a list", ["text"]],
    ["a stream of objects", Readable.from([{ a: 1 }])],
    ["a stream that another reads", lockedStream()],
  ])("are not written from %s", async (_, content) => {
    const { sandbox, agent } = await sandboxWith({}, carrier);
    const write = sandbox.files.write as (path: string, content: unknown) => Promise<unknown>;
    expect(await rejection(write.call(sandbox.files, "a", content))).toMatchObject({
      name: "ValidationError",
      message: expect.stringContaining("content "),
    });
    expect(agent.requests).toEqual([]);
  });

  test("are not written from a stream that has ended", async () => {
    const { sandbox } = await sandboxWith({ "POST /files/upload": ok({}) }, carrier);
    const stream = Readable.from(["once"]);
    await sandbox.files.write("a", stream);
    expect(await rejection(sandbox.files.write("a", stream))).toMatchObject({ name: "ValidationError" });
  });

  test.each<[string, string | Uint8Array | Blob, Buffer]>([
    ["bytes", bytes, Buffer.from(bytes)],
    ["a blob", new Blob([bytes], { type: "image/png" }), Buffer.from(bytes)],
    ["a long text", "ü".repeat(300_000), Buffer.from("ü".repeat(300_000))],
    ["nothing", new Uint8Array(0), Buffer.alloc(0)],
  ])(
    "of %s are uploaded without a form to a server that has our extensions",
    async (_, content, expected) => {
      const { sandbox, agent } = await sandboxWith({ "POST /files/upload": ok({}) }, carrier);
      const path = "/workspace/a b&c.bin";
      expect(await sandbox.files.write(path, content)).toEqual({ path, size: expected.length });
      const request = agent.requests.find(({ method }) => method === "POST");
      expect(request?.path).toBe("/files/upload?path=%2Fworkspace%2Fa%20b%26c.bin");
      expect(request?.headers["content-type"]).toBe("application/octet-stream");
      expect(request?.body.equals(expected)).toBe(true);
    },
  );

  test("of this machine are uploaded without a form to a server that has our extensions", async () => {
    const { sandbox, agent } = await sandboxWith({ "POST /files/upload": ok({}) }, carrier);
    const local = fileURLToPath(import.meta.url);
    const content = await readFile(local);
    const written = await sandbox.files.upload(local, "/workspace/a");
    expect(written).toEqual({ path: "/workspace/a", size: content.length });
    const request = agent.requests.find(({ method }) => method === "POST");
    expect(request?.path).toBe("/files/upload?path=%2Fworkspace%2Fa");
    expect(request?.headers["content-type"]).toBe("application/octet-stream");
    expect(request?.body.equals(content)).toBe(true);
  });

  test("without a name are not put into a directory under a name that nobody gave", async () => {
    const { sandbox, agent } = await sandboxWith({ "POST /files/upload": ok({}) }, carrier);
    await sandbox.files.upload(fileURLToPath(import.meta.url), "/workspace/a/");
    await sandbox.files.write("/workspace/a/", bytes);
    for (const { path, headers } of agent.requests.filter(({ method }) => method === "POST")) {
      expect(path).toBe("/files/upload?path=%2Fworkspace%2Fa%2F");
      expect(headers["content-type"]).toBe("application/octet-stream");
    }
    await sandbox.files.write("/workspace/a/", new File([bytes], "named"));
    expect(agent.requests.at(-1)?.headers["content-type"]).toMatch(/^multipart\/form-data/);
  });

  test("are uploaded unchanged in a form, also by the low-level client", async () => {
    const { sandbox, agent } = await sandboxWith({ "POST /files/upload": ok({}) }, carrier, cloud);
    await sandbox.files.write("/workspace/b", bytes);
    await sandbox.agent.POST("/files/upload", { body: { file: new Blob(["low"]), path: "/tmp/low" } });
    const received = agent.requests.map(async ({ body, headers }) => {
      const form = await new Response(body, {
        headers: { "content-type": `${headers["content-type"]}` },
      }).formData();
      const file = form.get("file") as File;
      return [form.get("path"), Buffer.from(await file.arrayBuffer()).toString("base64")];
    });
    expect(await Promise.all(received)).toEqual([
      ["/workspace/b", Buffer.from(bytes).toString("base64")],
      ["/tmp/low", Buffer.from("low").toString("base64")],
    ]);
  });
});
