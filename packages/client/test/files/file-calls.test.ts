import { getEventListeners } from "node:events";
import { createReadStream, existsSync } from "node:fs";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { FileContent } from "../../src/index.js";
import { carriers, rejection } from "../support/clients.js";
import { ok, sandboxWith } from "../support/sandbox-of-service.js";
import { type Handler, inTurn, json } from "../support/scripted-server.js";

async function* pieces(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

function lockedStream(): ReadableStream {
  const stream = new Blob(["text"]).stream();
  stream.getReader();
  return stream;
}

/** It has none of our extensions, and states no isolation. */
const cloud = { isolation: undefined };

test("a file is as long as it comes, also where a browser hides that it was compressed", async () => {
  const hiding = async (request: Request): Promise<Response> => {
    const { body, headers } = await globalThis.fetch(request);
    const shown = new Headers(headers);
    if (request.url.includes("/files/download")) shown.set("content-length", "25");
    return new Response(body, { headers: shown });
  };
  const { sandbox } = await sandboxWith(
    { "GET /files/download": (_, response) => response.end("hello") },
    { fetch: hiding },
  );
  expect(await sandbox.files.readBytes("a")).toEqual(new TextEncoder().encode("hello"));
});

describe.each(carriers)("over %s, files", (_, carrier) => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);

  test.each<[string, string | undefined, boolean]>([
    ["of known length", "application/octet-stream", true],
    ["of unknown length", "application/octet-stream", false],
    ["that a server takes for text", "text/plain; charset=utf-8", true],
    ["that a server takes for a page of unknown length", "text/html", false],
    ["of unknown type", undefined, false],
  ])("%s are read byte by byte", async (_, type, declared) => {
    const { sandbox, agent } = await sandboxWith(
      {
        "GET /files/download": (_, response) => {
          if (type !== undefined) response.setHeader("content-type", type);
          if (declared) response.setHeader("content-length", bytes.length);
          response.write(bytes.subarray(0, 1));
          response.end(bytes.subarray(1));
        },
      },
      carrier,
    );
    const read = await sandbox.files.readBytes("/workspace/a b&c.bin");
    expect(Buffer.from(read).equals(Buffer.from(bytes))).toBe(true);
    expect(agent.calls()).toEqual(["GET /files/download?path=%2Fworkspace%2Fa%20b%26c.bin"]);
  });

  test("that are empty are read as such", async () => {
    const { sandbox } = await sandboxWith(
      {
        "GET /files/download": (_, response) =>
          response.writeHead(200, { "content-type": "application/octet-stream", "content-length": 0 }).end(),
        "GET /files/read": ok({ content: "", path: "/workspace/empty", size: 0 }),
      },
      carrier,
    );
    const { signal } = new AbortController();
    expect(await sandbox.files.readBytes("empty", { signal })).toEqual(new Uint8Array(0));
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(await sandbox.files.readText("empty")).toBe("");
  });

  test.each([5, 5000])("that come compressed (%d bytes) are unpacked or refused", async (length) => {
    const content = "a".repeat(length);
    const body = gzipSync(content);
    const { sandbox } = await sandboxWith(
      {
        "GET /files/download": (_, response) =>
          response
            .writeHead(200, {
              "content-type": "application/octet-stream",
              "content-encoding": "gzip",
              "content-length": body.length,
            })
            .end(body),
      },
      carrier,
    );
    const reading = sandbox.files.readBytes("a");
    if (carrier.fetch) expect(new TextDecoder().decode(await reading)).toBe(content);
    else expect(await rejection(reading)).toMatchObject({ code: "INVALID_RESPONSE" });
  });

  test.each<[string, Handler, object]>([
    [
      "falls silent",
      (_, response) => {
        response.writeHead(200, { "content-type": "application/octet-stream", "content-length": 10 });
        response.write("12345");
      },
      { name: "TimeoutError", kind: "idle" },
    ],
    [
      "breaks off",
      (_, response) => {
        response.writeHead(200, { "content-type": "application/octet-stream", "content-length": 10 });
        response.write("12345", () => response.destroy());
      },
      { name: "NetworkError" },
    ],
    [
      "is not there",
      (_, response) => json(response, 404, { error: "File not found", code: "FILE_NOT_FOUND" }),
      { name: "NotFoundError", code: "FILE_NOT_FOUND" },
    ],
  ])("whose content %s are an error", async (_, handler, expected) => {
    const options = { ...carrier, timeouts: { idleSeconds: 1 }, retry: false };
    const { sandbox } = await sandboxWith({ "GET /files/download": handler }, options);
    expect(await rejection(sandbox.files.readBytes("/workspace/a"))).toMatchObject(expected);
  });

  test("are not waited for beyond the caller's signal", async () => {
    const controller = new AbortController();
    const { sandbox } = await sandboxWith(
      {
        "GET /files/download": (_, response) => {
          response.writeHead(200, { "content-type": "application/octet-stream", "content-length": 10 });
          response.write("12345", () => controller.abort("enough"));
        },
      },
      carrier,
    );
    const { signal } = controller;
    const thrown = await rejection(sandbox.files.readBytes("/workspace/a", { signal }));
    expect(thrown).toMatchObject({ name: "AbortError", reason: "enough" });
  });

  test("may take longer than a request, as long as they come", async () => {
    const { sandbox } = await sandboxWith(
      {
        "GET /files/download": (_, response) => {
          response.writeHead(200, { "content-type": "application/octet-stream", "content-length": 9 });
          let sent = 0;
          const timer = setInterval(() => {
            response.write(String(sent++));
            if (sent === 9) clearInterval(timer);
          }, 250);
        },
      },
      { ...carrier, timeouts: { requestSeconds: 1.5, idleSeconds: 1.5 } },
    );
    expect(new TextDecoder().decode(await sandbox.files.readBytes("a"))).toBe("012345678");
  });

  test.each<[string, Handler]>([
    ["says that there is more", (_, response) => response.writeHead(200, { "content-length": 200_000 })],
    ["says no length", (_, response) => response.writeHead(200)],
    ["calls it JSON", (_, response) => response.writeHead(200, { "content-type": "application/json" })],
  ])("are not received beyond the most that is asked for, from a server that %s", async (_, begin) => {
    let isLeft = false;
    const { sandbox, agent } = await sandboxWith(
      {
        "GET /files/download": (request, response) => {
          response.once("close", () => {
            isLeft = true;
          });
          begin(request, response);
          // It never ends: whoever waits for the end waits for the test's.
          response.write(bytes);
        },
      },
      carrier,
    );
    const thrown = await rejection(sandbox.files.readBytes("/workspace/a", { maxBytes: 99_999 }));
    expect(thrown).toMatchObject({ name: "SandboxError", code: "FILE_TOO_LARGE", retryable: false });
    expect(String(thrown)).toContain("more than 99999 bytes");
    await expect.poll(() => isLeft).toBe(true);
    expect(agent.calls()).toHaveLength(1);
  });

  test.each([true, false])("that are as long as is asked for are read, declared: %s", async (declared) => {
    const { sandbox } = await sandboxWith(
      {
        "GET /files/download": (_, response) => {
          if (declared) response.setHeader("content-length", bytes.length);
          response.write(bytes.subarray(0, 1));
          response.end(bytes.subarray(1));
        },
      },
      carrier,
    );
    const read = await sandbox.files.readBytes("a", { maxBytes: bytes.length });
    expect(Buffer.from(read).equals(Buffer.from(bytes))).toBe(true);
  });

  test("are not read beyond their limit, whatever length a fetch declares", async () => {
    const lying: typeof fetch = async (input, init) => {
      if (!String(input instanceof Request ? input.url : input).includes("/files/download"))
        return fetch(input, init);
      return new Response("x".repeat(1000), { headers: { "content-length": "50" } });
    };
    const { sandbox } = await sandboxWith({}, { ...carrier, fetch: lying });
    const thrown = await rejection(sandbox.files.readBytes("a", { maxBytes: 100 }));
    expect(thrown).toMatchObject({ name: "SandboxError", code: "FILE_TOO_LARGE" });
  });

  test("of unknown length may take longer than a request, also with a limit", async () => {
    const { sandbox } = await sandboxWith(
      {
        "GET /files/download": (_, response) => {
          let sent = 0;
          const timer = setInterval(() => {
            response.write(String(sent++));
            if (sent < 5) return;
            clearInterval(timer);
            response.end();
          }, 100);
        },
      },
      { ...carrier, timeouts: { requestSeconds: 0.3, idleSeconds: 0.3 } },
    );
    expect(new TextDecoder().decode(await sandbox.files.readBytes("a", { maxBytes: 5 }))).toBe("01234");
  });

  test("of text are written as text", async () => {
    const { sandbox, agent } = await sandboxWith(
      { "POST /files/write": ok({ success: true, path: "/workspace/a", size: 6 }) },
      carrier,
    );
    const written = await sandbox.files.write("a", "grüße", { mode: "0600", overwrite: false });
    expect(written).toEqual({ path: "/workspace/a", size: 6 });
    expect(agent.requests[0]?.json).toEqual({ path: "a", content: "grüße", mode: "0600", overwrite: false });
  });

  test("of bytes with a mode are written as base64", async () => {
    const { sandbox, agent } = await sandboxWith({ "POST /files/write": ok({}) }, carrier);
    expect(await sandbox.files.write("a", bytes, { mode: "0755" })).toEqual({
      path: "a",
      size: bytes.length,
    });
    expect(agent.requests[0]?.json).toEqual({
      path: "a",
      content: Buffer.from(bytes).toString("base64"),
      encoding: "base64",
      mode: "0755",
    });
  });

  test.each<[string, string | Uint8Array | Blob]>([
    ["bytes", bytes],
    ["a blob", new Blob([bytes])],
    ["a long text", "x".repeat(300_000)],
  ])(
    "of %s are uploaded in a form where nothing else is known, their destination first",
    async (_, content) => {
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
    },
  );

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
    expect(agent.requests[1]?.json).toMatchObject({
      content: Buffer.from("grüße").toString("base64"),
      encoding: "base64",
    });
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
  ])("of %s are uploaded as they are where that is known", async (_, content, expected) => {
    const { sandbox, agent } = await sandboxWith({ "POST /files/upload": ok({}) }, carrier);
    const path = "/workspace/a b&c.bin";
    expect(await sandbox.files.write(path, content)).toEqual({ path, size: expected.length });
    const request = agent.requests.find(({ method }) => method === "POST");
    expect(request?.path).toBe("/files/upload?path=%2Fworkspace%2Fa%20b%26c.bin");
    expect(request?.headers["content-type"]).toBe("application/octet-stream");
    expect(request?.body.equals(expected)).toBe(true);
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

  test("are listed in either spelling, without what is null", async () => {
    const modified = "2026-11-01T10:00:00Z";
    const { sandbox, agent } = await sandboxWith(
      {
        "GET /files/list": inTurn(
          ok({
            path: "/workspace",
            files: [
              {
                name: "a",
                path: "/workspace/a",
                size: 3,
                is_directory: false,
                modified_time: modified,
                mode: "0644",
              },
              null,
              { name: "b", path: "/workspace/b", size: 0, is_dir: true, modified, permissions: "drwxr-xr-x" },
            ],
            total: 20,
            truncated: true,
          }),
          ok({ files: null }),
        ),
      },
      carrier,
    );
    const modifiedAt = new Date(modified);
    expect(await sandbox.files.list()).toEqual({
      path: "/workspace",
      entries: [
        {
          name: "a",
          path: "/workspace/a",
          size: 3,
          isDirectory: false,
          isSymlink: false,
          modifiedAt,
          permissions: "0644",
        },
        {
          name: "b",
          path: "/workspace/b",
          size: 0,
          isDirectory: true,
          isSymlink: false,
          modifiedAt,
          permissions: "drwxr-xr-x",
        },
      ],
      total: 20,
      truncated: true,
    });
    expect(await sandbox.files.list("/tmp")).toEqual({
      path: "/tmp",
      entries: [],
      total: 0,
      truncated: false,
    });
    expect(agent.calls()).toEqual(["GET /files/list?path=%2Fworkspace", "GET /files/list?path=%2Ftmp"]);
  });

  test("end their transfer with what the caller's own function throws", async () => {
    const { sandbox, agent } = await sandboxWith(
      {
        "POST /files/upload": ok({}),
        "GET /files/download": (_, response) => response.end(bytes),
      },
      carrier,
    );
    const mine = new Error("mine");
    const onProgress = (): never => {
      throw mine;
    };
    const here = fileURLToPath(import.meta.url);
    expect(await rejection(sandbox.files.upload(here, "a", { onProgress }))).toBe(mine);
    expect(await rejection(sandbox.files.download("a", `${here}.down`, { onProgress }))).toBe(mine);
    expect(await rejection(sandbox.files.uploadDirectory(dirname(here), "a", { exclude: onProgress }))).toBe(
      mine,
    );
    expect(existsSync(`${here}.down`)).toBe(false);
    expect(agent.calls().filter((call) => call.startsWith("POST")).length).toBeLessThan(2);
  });

  test("are looked for, made and removed", async () => {
    const { sandbox, agent } = await sandboxWith(
      {
        "GET /files/exists": ok({ exists: false, path: "/a" }),
        "POST /files/mkdir": ok({}),
        "DELETE /files/remove": (_, response) => response.writeHead(204).end(),
      },
      carrier,
    );
    expect(await sandbox.files.exists("/a")).toBe(false);
    await sandbox.files.mkdir("/a");
    await sandbox.files.remove("/a");
    expect(agent.calls()).toEqual([
      "GET /files/exists?path=%2Fa",
      "POST /files/mkdir",
      "DELETE /files/remove?path=%2Fa",
    ]);
  });
});
