import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { SandboxClient } from "../../src/index.js";
import { apiKey, carriers, rejection, testClient, unusedUrl } from "../support/clients.js";
import { json, scriptedServer } from "../support/scripted-server.js";

const sandbox = { id: "abc", status: "running" };

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

describe.each(carriers)("over %s", (_, carrier) => {
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

  test("a connection that is refused is an error that says what to check", async () => {
    const thrown = await rejection(testClient(unusedUrl, carrier).sandboxes.get("abc"));
    expect(thrown).toMatchObject({ name: "NetworkError", code: "ECONNREFUSED", retryable: true });
    expect(String(thrown)).toContain(unusedUrl.replace("http://", ""));
    expect(String(thrown)).toContain("CLOUD_SANDBOX_BASE_URL");
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
      // Collect garbage: Node.js holds the request of a fetch weakly, and aborting must work even when the request was
      // collected.
      collectGarbage();
      await new Promise(setImmediate);
      collectGarbage();
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

    test("ends the pause before another try", async () => {
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

    test("has no listener left when the call has ended", async () => {
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

  test("a low-level call with another base URL or fetch sends nothing there, least of all the key", async () => {
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
    const ownFetch = client.controlPlane.GET("/v1/sandboxes", { fetch: () => fetch(other.url) });
    expect(await rejection(ownFetch)).toMatchObject({ name: "ValidationError" });
    expect(other.requests).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  test("a call sends the key, a request id and the client's version", async () => {
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
