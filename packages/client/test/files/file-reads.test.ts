import { getEventListeners } from "node:events";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { carriers, rejection } from "../support/clients.js";
import { ok, sandboxWith } from "../support/sandbox-of-service.js";
import { type Handler, json } from "../support/scripted-server.js";

test("a file is read to its end, even if a browser hides that it was compressed", async () => {
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

  test("are awaited no longer than the caller's signal allows", async () => {
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

  test("may take longer than a request, as long as bytes arrive", async () => {
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
  ])("are read no further than maxBytes, from a server that %s", async (_, begin) => {
    let isLeft = false;
    const { sandbox, agent } = await sandboxWith(
      {
        "GET /files/download": (request, response) => {
          response.once("close", () => {
            isLeft = true;
          });
          begin(request, response);
          // Do not end the answer: a client that waits for its end fails in the test's time limit.
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

  test.each([true, false])(
    "that are exactly as long as maxBytes are read, with Content-Length: %s",
    async (declared) => {
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
    },
  );

  test("are read no further than their limit, whatever length a fetch declares", async () => {
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
});
