import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import type { SandboxClient } from "../src/index.js";
import { apiKey, carriers, rejection, testClient, unusedUrl } from "./support/clients.js";
import { type Handler, json, scriptedServer } from "./support/scripted-server.js";

const sandbox = { id: "abc", status: "running" };
const mebibyte = Buffer.alloc(1024 * 1024, " ");

interface Fault {
  /** What a GET is answered with. */
  handler: Handler;
  name: string;
  code: string;
  message: RegExp;
}

const faults: [string, Fault][] = [
  [
    "a page instead of JSON",
    {
      handler: (_, response) =>
        response.writeHead(200, { "content-type": "text/html" }).end("<html>Welcome</html>"),
      name: "InvalidResponseError",
      code: "INVALID_RESPONSE",
      message: /text\/html instead of JSON/,
    },
  ],
  [
    "a page instead of JSON, of known length",
    {
      handler: (_, response) =>
        response.writeHead(200, { "content-type": "text/html", "content-length": 6 }).end("<html>"),
      name: "InvalidResponseError",
      code: "INVALID_RESPONSE",
      message: /text\/html instead of JSON/,
    },
  ],
  [
    "half a JSON of known length",
    {
      handler: (_, response) =>
        response.writeHead(200, { "content-type": "application/json", "content-length": 8 }).end('{"id": "'),
      name: "InvalidResponseError",
      code: "INVALID_RESPONSE",
      message: /breaks off or is malformed/,
    },
  ],
  [
    "half a JSON of unknown length",
    {
      handler: (_, response) =>
        response.writeHead(200, { "content-type": "application/json" }).end('{"id": "'),
      name: "InvalidResponseError",
      code: "INVALID_RESPONSE",
      message: /breaks off or is malformed/,
    },
  ],
  [
    "a success without a body",
    {
      handler: (_, response) => response.writeHead(200, { "content-length": 0 }).end(),
      name: "InvalidResponseError",
      code: "INVALID_RESPONSE",
      message: /lacks a body/,
    },
  ],
  [
    "204 where a body is promised",
    {
      handler: (_, response) => response.writeHead(204).end(),
      name: "InvalidResponseError",
      code: "INVALID_RESPONSE",
      message: /lacks a body/,
    },
  ],
  [
    "JSON that is no object",
    {
      handler: (_, response) => json(response, 200, "fine"),
      name: "InvalidResponseError",
      code: "INVALID_RESPONSE",
      message: /lacks a body/,
    },
  ],
  [
    "an object without what is promised",
    {
      handler: (_, response) => json(response, 200, { status: "running" }),
      name: "InvalidResponseError",
      code: "INVALID_RESPONSE",
      message: /lacks "id"/,
    },
  ],
  [
    "200 with an error in it",
    {
      handler: (_, response) => json(response, 200, { error: "No such region", code: "REGION_UNKNOWN" }),
      name: "ApiError",
      code: "REGION_UNKNOWN",
      message: /No such region/,
    },
  ],
  [
    "a body that says it is too long",
    {
      handler: (_, response) => {
        response.writeHead(200, {
          "content-type": "application/json",
          "content-length": 65 * mebibyte.length,
        });
        response.write(mebibyte);
      },
      name: "InvalidResponseError",
      code: "RESPONSE_TOO_LARGE",
      message: /longer than 64 MiB/,
    },
  ],
  [
    "a body that does not end",
    {
      handler: (_, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const flood = (): void => {
          while (!response.destroyed && response.write(mebibyte));
        };
        response.on("drain", flood);
        flood();
      },
      name: "InvalidResponseError",
      code: "RESPONSE_TOO_LARGE",
      message: /longer than 64 MiB/,
    },
  ],
  [
    "a connection that breaks before the answer",
    {
      handler: (_, response) => response.destroy(),
      name: "NetworkError",
      code: expect.any(String),
      message: /broke before the answer was complete/,
    },
  ],
  [
    "a connection that breaks in the middle",
    {
      handler: (_, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": 1000 });
        response.write('{"id": "abc",', () => response.destroy());
      },
      name: "NetworkError",
      code: expect.any(String),
      message: /broke before the answer was complete/,
    },
  ],
  [
    "no answer",
    {
      handler: () => undefined,
      name: "TimeoutError",
      code: "TIMEOUT",
      message: /did not answer within 0.3 s/,
    },
  ],
  [
    "an answer that stops in the middle",
    {
      handler: (_, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": 1000 });
        response.write('{"id": "abc",');
      },
      name: "TimeoutError",
      code: "TIMEOUT",
      message: /did not answer within 0.3 s/,
    },
  ],
];

describe.each(carriers)("over %s", (_, carrier) => {
  test.each(faults)("%s is a typed error", async (_, { handler, name, code, message }) => {
    const server = await scriptedServer(handler);
    const timeouts = name === "TimeoutError" ? { request: 0.3 } : {};
    const client = testClient(server.url, { ...carrier, timeouts, retry: false });
    const thrown = await rejection(client.sandboxes.get("abc"));
    expect(thrown).toMatchObject({ name, code, message: expect.stringMatching(message) });
    expect(thrown).toMatchObject({ requestId: server.requests[0]?.headers["x-request-id"] });
  });

  test("bytes of unknown length instead of JSON are a typed error", async () => {
    const server = await scriptedServer((_, response) =>
      response.writeHead(200, { "content-type": "application/octet-stream" }).end("\x00"),
    );
    const thrown = await rejection(testClient(server.url, carrier).sandboxes.get("abc"));
    expect(thrown).toMatchObject({ name: "InvalidResponseError", code: "INVALID_RESPONSE" });
  });

  test("an answer of unknown length is read like any other", async () => {
    const server = await scriptedServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
      response.write('{"id": "abc", "status": "running", "name": "gr');
      response.write(Buffer.from("üß", "utf8").subarray(0, 1));
      response.end(Buffer.concat([Buffer.from("üß", "utf8").subarray(1), Buffer.from('e"}')]));
    });
    expect((await testClient(server.url, carrier).sandboxes.get("abc")).name).toBe("grüße");
  });

  test.each([301, 302, 303, 307, 308])(
    "a redirect (%i) is refused, and nothing goes to its target",
    async (status) => {
      const target = await scriptedServer((_, response) => json(response, 200, sandbox));
      const server = await scriptedServer((_, response) =>
        response.writeHead(status, { location: `${target.url}/v1/sandboxes/abc?token=1234567` }).end(),
      );
      const thrown = await rejection(testClient(server.url, carrier).sandboxes.get("abc"));
      expect(thrown).toMatchObject({ name: "InvalidResponseError", code: "REDIRECT_REFUSED", status });
      expect(String(thrown)).toContain(target.url);
      expect(String(thrown)).not.toContain("1234567");
      expect(target.requests).toEqual([]);
    },
  );

  test("a server that is not there says what to check", async () => {
    const thrown = await rejection(testClient(unusedUrl, carrier).sandboxes.get("abc"));
    expect(thrown).toMatchObject({ name: "NetworkError", code: "ECONNREFUSED", retryable: true });
    expect(String(thrown)).toContain(unusedUrl.replace("http://", ""));
    expect(String(thrown)).toContain("CLOUD_SANDBOX_BASE_URL");
  });

  test("something that does not speak HTTP is a network error", async () => {
    const server = createServer((socket) => socket.end("SSH-2.0-OpenSSH\r\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const thrown = await rejection(testClient(`http://127.0.0.1:${port}`, carrier).sandboxes.get("abc"));
    expect(thrown).toMatchObject({ name: "NetworkError" });
    server.close();
  });

  describe("a signal", () => {
    const calls: [string, (client: SandboxClient, signal: AbortSignal) => Promise<unknown>][] = [
      ["get", (client, signal) => client.sandboxes.get("abc", { signal })],
      ["list", (client, signal) => client.sandboxes.list({ signal }).pages().next()],
      ["delete", (client, signal) => client.sandboxes.delete("abc", { signal })],
    ];

    test.each(calls)("ends %s under way, and its connection", async (_, call) => {
      let ended = 0;
      const server = await scriptedServer((_, response) => response.on("close", () => (ended += 1)));
      const controller = new AbortController();
      const pending = rejection(call(testClient(server.url, carrier), controller.signal));
      await expect.poll(() => server.requests.length).toBe(1);
      controller.abort("no longer needed");
      expect(await pending).toMatchObject({
        name: "AbortError",
        reason: "no longer needed",
        cause: "no longer needed",
      });
      await expect.poll(() => ended).toBe(1);
    });

    test.each(calls)("that has fired already sends no %s", async (_, call) => {
      const server = await scriptedServer((_, response) => json(response, 200, sandbox));
      const pending = call(testClient(server.url, carrier), AbortSignal.abort());
      expect(await rejection(pending)).toMatchObject({ name: "AbortError" });
      expect(server.requests).toEqual([]);
    });

    test("ends the wait before another try", async () => {
      const server = await scriptedServer((_, response) => json(response, 503, {}, { "retry-after": "20" }));
      const controller = new AbortController();
      const pending = rejection(
        testClient(server.url, carrier).sandboxes.get("abc", { signal: controller.signal }),
      );
      await expect.poll(() => server.requests.length).toBe(1);
      controller.abort();
      expect(await pending).toMatchObject({ name: "AbortError" });
    });

    test("may be shared by many calls, and ends them all, without a warning of a leak", async () => {
      const warnings: Error[] = [];
      const note = (warning: Error): void => void warnings.push(warning);
      process.on("warning", note);
      const server = await scriptedServer(() => undefined);
      const client = testClient(server.url, carrier);
      const controller = new AbortController();
      const { signal } = controller;
      const calls = Array.from({ length: 30 }, () => rejection(client.sandboxes.get("abc", { signal })));
      await expect.poll(() => server.requests.length).toBe(30);
      controller.abort();
      for (const thrown of await Promise.all(calls)) expect(thrown).toMatchObject({ name: "AbortError" });
      process.off("warning", note);
      expect(warnings).toEqual([]);
    });

    test("is let go of when the call ends", async () => {
      const server = await scriptedServer((_, response) => json(response, 200, sandbox));
      const client = testClient(server.url, carrier);
      const { signal } = new AbortController();
      let listeners = 0;
      const add = signal.addEventListener.bind(signal);
      const remove = signal.removeEventListener.bind(signal);
      signal.addEventListener = (...args: Parameters<typeof add>) => {
        listeners += 1;
        add(...args);
      };
      signal.removeEventListener = (...args: Parameters<typeof remove>) => {
        listeners -= 1;
        remove(...args);
      };
      await client.sandboxes.get("abc", { signal });
      expect(listeners).toBe(0);
    });
  });

  test("one call's other address gets nothing, least of all the key", async () => {
    const other = await scriptedServer((_, response) => json(response, 200, sandbox));
    const server = await scriptedServer((_, response) => json(response, 200, sandbox));
    const client = testClient(server.url, carrier);
    for (const baseUrl of [other.url, `${server.url}.example.com`, `${server.url}0`]) {
      const call = client.controlPlane.GET("/v1/sandboxes/{id}", {
        baseUrl,
        params: { path: { id: "abc" } },
      });
      expect(await rejection(call)).toMatchObject({ name: "ValidationError" });
    }
    expect(other.requests).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  test("the key is sent, and what identifies the call", async () => {
    const server = await scriptedServer((_, response) => json(response, 200, sandbox));
    const client = testClient(server.url, { ...carrier, bearerToken: "bearer-token" });
    await client.sandboxes.get("abc");
    expect(server.requests[0]?.headers).toMatchObject({
      "x-api-key": apiKey,
      authorization: "Bearer bearer-token",
      "x-request-id": expect.stringMatching(/^[\w-]{36}$/),
      "user-agent": expect.stringContaining("cloud-sandbox/"),
    });
  });
});
