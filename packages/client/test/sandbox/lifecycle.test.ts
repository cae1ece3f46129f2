import { describe, expect, test, vi } from "vitest";
import type { CreateSandboxOptions, Sandbox } from "../../src/index.js";
import { rejection, testClient } from "../support/clients.js";
import { sandboxService, wireSandbox, withSandbox } from "../support/sandbox-service.js";
import { type Handler, inTurn, json, scriptedServer } from "../support/scripted-server.js";

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

describe("a sandbox by its name", () => {
  test("is refused, and deleted again, if the server creates another one each time", async () => {
    const { controlPlane } = await sandboxService();
    const client = testClient(controlPlane.url);
    expect(await rejection(client.sandboxes.getOrCreate("shared"))).toMatchObject({
      code: "GET_OR_CREATE_UNAVAILABLE",
    });
    expect(controlPlane.calls()).toEqual(["POST /v1/sandboxes", "DELETE /v1/sandboxes/abc"]);
  });

  test("is not deleted by a later failure if it existed before", async () => {
    const { controlPlane } = await sandboxService({
      "POST /v1/sandboxes": (_, response) =>
        json(response, 200, wireSandbox("", { name: "shared", status: "error" })),
    });
    expect(await rejection(testClient(controlPlane.url).sandboxes.getOrCreate("shared"))).toMatchObject({
      code: "SANDBOX_FAILED",
    });
    expect(controlPlane.calls()).toEqual(["POST /v1/sandboxes"]);
  });

  test("or by its labels is found on a server that filters by neither", async () => {
    const data = [
      wireSandbox("", { id: "a", name: "one", metadata: { owner: "me", stage: "x" } }),
      wireSandbox("", { id: "b", name: "two", metadata: { owner: "you" } }),
      wireSandbox("", { id: "c" }),
    ];
    const server = await scriptedServer((_, response) => json(response, 200, { data }));
    const { sandboxes } = testClient(server.url);
    const found: string[] = [];
    for await (const { id } of sandboxes.list({ name: "two" })) found.push(id);
    for await (const { id } of sandboxes.list({ metadata: { owner: "me" } })) found.push(id);
    expect(found).toEqual(["b", "a"]);
    expect(server.calls()[1]).toBe("GET /v1/sandboxes?metadata=owner%3Dme");
  });
});

describe("keepAlive of a sandbox", () => {
  async function keeping(timeout: Handler, fields: Record<string, unknown> = {}, headers = {}) {
    const answer = { ...wireSandbox("http://127.0.0.1:10"), expires_at: inSeconds(5), ...fields };
    const { controlPlane } = await sandboxService({
      "GET /v1/sandboxes/abc": (_, response) => json(response, 200, answer, headers),
      "PUT /v1/sandboxes/abc/timeout": timeout,
    });
    const client = testClient(controlPlane.url);
    return { sandbox: await client.sandboxes.get("abc"), client, controlPlane };
  }
  const moved: Handler = ({ json: body }, response) =>
    json(response, 200, { expires_at: inSeconds(Number(body.timeout_seconds)) });
  const timeouts = ({ calls }: { calls(): string[] }) =>
    calls().filter((call) => call.startsWith("PUT")).length;

  test.each<[string, Handler, string, object]>([
    ["gone", (_, response) => json(response, 404, { error: "No such sandbox" }), "gone", {}],
    [
      "expired",
      (_, response) => json(response, 410, { error: "expired", code: "SANDBOX_EXPIRED" }),
      "gone",
      {},
    ],
    ["over", (_, response) => json(response, 403, { error: "no" }), "failed", { expires_at: inSeconds(-5) }],
  ])("ends for a sandbox that is %s", async (_, handler, why, fields) => {
    const { sandbox } = await keeping(handler, { ...fields });
    expect(await sandbox.keepAlive().ended).toBe(why);
  });

  test("does not change a deadline that is late enough, or none", async () => {
    for (const expires_at of [inSeconds(1000), null]) {
      const { sandbox, controlPlane } = await keeping(moved, { expires_at });
      using kept = sandbox.keepAlive({ seconds: 60, maxSeconds: 0.05 });
      expect(await kept.ended).toBe("maximum");
      expect(timeouts(controlPlane)).toBe(0);
    }
  });

  test("does not change a later deadline that another client has set", async () => {
    const answer = wireSandbox("http://127.0.0.1:10");
    const { controlPlane } = await sandboxService({
      "GET /v1/sandboxes/abc": inTurn(
        (_, response) => json(response, 200, { ...answer, expires_at: inSeconds(5) }),
        (_, response) => json(response, 200, { ...answer, expires_at: inSeconds(1000) }),
      ),
      "PUT /v1/sandboxes/abc/timeout": moved,
    });
    const sandbox = await testClient(controlPlane.url).sandboxes.get("abc");
    using kept = sandbox.keepAlive({ seconds: 60, maxSeconds: 0.5 });
    expect(await kept.ended).toBe("maximum");
    expect(sandbox.expiresAt?.getTime()).toBeGreaterThan(Date.now() + 900_000);
    expect(timeouts(controlPlane)).toBe(0);
  });

  test("ends, and reports no deadline, when the client is closed", async () => {
    const { sandbox, client } = await keeping(moved);
    const refresh = vi.spyOn(sandbox, "refresh");
    const callback = vi.fn();
    await client.close();
    sandbox.onExpiring(callback);
    await expect.poll(() => refresh.mock.settledResults[0]?.type).toBe("rejected");
    expect(await sandbox.keepAlive().ended).toBe("stopped");
    expect(callback).not.toHaveBeenCalled();
  });

  test("uses the server's clock, an hour from this machine's", async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const { sandbox, controlPlane } = await keeping(moved, { expires_at: inSeconds(3605) }, { date });
    using _kept = sandbox.keepAlive({ seconds: 60 });
    await expect.poll(() => timeouts(controlPlane)).toBe(1);
  });

  test.each<[string, (sandbox: Sandbox) => unknown]>([
    ["a short life", (sandbox) => sandbox.keepAlive({ seconds: 5 })],
    ["half a second", (sandbox) => sandbox.keepAlive({ seconds: 30.5 })],
    ["no maximum", (sandbox) => sandbox.keepAlive({ maxSeconds: 0 })],
    ["no function", (sandbox) => Reflect.apply(sandbox.onExpiring, sandbox, [5])],
    ["a negative time", (sandbox) => sandbox.onExpiring(() => undefined, { leadSeconds: -1 })],
    ["no port", (sandbox) => sandbox.ports.previewUrl(0)],
  ])("refuses %s", async (_, call) => {
    const { sandbox, controlPlane } = await keeping(moved);
    expect(() => call(sandbox)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    expect(controlPlane.requests).toHaveLength(1);
  });
});

describe("the address of a port", () => {
  test.each<[string, Record<string, unknown>, string]>([
    [
      "the server's",
      { preview_url_template: "http://p{port}-abc.localhost:1/" },
      "http://p80-abc.localhost:1/",
    ],
    [
      "the cloud's",
      { public_host: "https://7777-abc.eu-1.vms.hopx.dev" },
      "https://80-abc.eu-1.vms.hopx.dev/",
    ],
  ])("is %s", async (_, fields, expected) => {
    const server = await scriptedServer((_, response) => json(response, 200, wireSandbox("", fields)));
    const { ports } = await testClient(server.url).sandboxes.get("abc");
    expect(ports.previewUrl(80)).toBe(expected);
    expect(() => ports.previewUrl(80, { form: "path" })).toThrow(
      expect.objectContaining({ code: "PREVIEW_UNAVAILABLE" }),
    );
  });

  test("is unknown if no answer contains it", async () => {
    const { ports } = await withSandbox("http://127.0.0.1:10");
    expect(() => ports.previewUrl(80)).toThrow(expect.objectContaining({ code: "PREVIEW_UNAVAILABLE" }));
  });
});

describe("a stream of metrics", () => {
  const events =
    (text: string): Handler =>
    (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(text);
    };

  async function read(handler: Handler): Promise<(number | undefined)[]> {
    const { controlPlane } = await sandboxService({ "GET /v1/sandboxes/abc/metrics/stream": handler });
    const { metrics } = await testClient(controlPlane.url, { timeouts: { idleSeconds: 1 } }).sandboxes.get(
      "abc",
    );
    const seen: (number | undefined)[] = [];
    for await (const { uptimeSeconds } of metrics.stream()) seen.push(uptimeSeconds);
    return seen;
  }

  test("gives each event, however events and comments are cut into chunks", async () => {
    const handler: Handler = async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const piece of [
        ": hi\n\nda",
        'ta: {"uptime_seconds":1}\n',
        '\ndata: {"uptime_seconds":2}\r\n\r\n',
      ])
        await new Promise((resolve) => response.write(piece, resolve));
      response.end();
    };
    expect(await read(handler)).toEqual([1, 2]);
  });

  test.each<[string, Handler, object]>([
    ["holds no JSON", events("data: nonsense\n\n"), { code: "INVALID_RESPONSE" }],
    ["does not end an event", events(`data: ${"x".repeat(2_000_000)}`), { code: "INVALID_RESPONSE" }],
    ["is a page", (_, response) => json(response, 404, { error: "Not found" }), { status: 404 }],
    [
      "falls silent",
      (_, response) => response.writeHead(200, { "content-type": "text/event-stream" }).write(":\n\n"),
      { kind: "idle" },
    ],
  ])("that %s is an error", async (_, handler, expected) => {
    expect(await rejection(read(handler))).toMatchObject(expected);
  });
});

describe("a new sandbox", () => {
  test.each<[string, CreateSandboxOptions]>([
    ["a variable without text", { env: { A: undefined as never } }],
    ["a variable of no name", { env: { "A B": "1" } }],
    ["a label without text", { metadata: { owner: 5 as never } }],
    ["an empty name", { name: "" }],
    ["an egress list that is text", { egress: { allow: "pypi.org" as never } }],
    ["an empty entry of egress", { egress: { deny: [""] } }],
    ["egress without internet", { egress: { allow: ["pypi.org"] }, internetAccess: false }],
  ])("with %s is refused before anything is sent", async (_, options) => {
    const { controlPlane } = await sandboxService();
    const { sandboxes } = testClient(controlPlane.url);
    expect(await rejection(sandboxes.create(options))).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(controlPlane.requests).toEqual([]);
  });
});
