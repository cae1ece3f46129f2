import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { rejection, testClient } from "../support/clients.js";
import { ok, sandboxWith } from "../support/sandbox-of-service.js";
import { sandboxService, wireSandbox } from "../support/sandbox-service.js";
import { type Handler, inTurn, json, scriptedServer } from "../support/scripted-server.js";

describe("a sandbox", () => {
  test("is inspected and logged without its tokens", async () => {
    const { sandbox, controlPlane } = await sandboxWith({});
    for (const shown of [inspect(sandbox), inspect({ in: [sandbox] }, { depth: 5 })]) {
      expect(shown).toMatch(/Sandbox \{\s+id: 'abc',\s+status: 'running'/);
      expect(shown).not.toContain("eyJ");
    }
    expect(controlPlane.requests).toHaveLength(1);
  });

  test("refuses an invalid program or signal before it sends anything", async () => {
    const { sandbox, agent, client, controlPlane } = await sandboxWith({});
    const noSignal = { signal: {} as AbortSignal };
    const refused: [string, () => Promise<unknown>][] = [
      ["code must be text", () => Reflect.apply(sandbox.execute, sandbox, [5])],
      ["signal must be", () => sandbox.execute("1", noSignal)],
      ["signal must be", () => sandbox.files.readText("a", noSignal)],
      ["signal must be", () => sandbox.refreshToken(noSignal)],
      ["signal must be", () => client.sandboxes.create(noSignal)],
    ];
    for (const [message, call] of refused) {
      expect(await rejection(call())).toMatchObject({
        name: "ValidationError",
        message: expect.stringContaining(message),
      });
    }
    expect(agent.requests).toEqual([]);
    expect(controlPlane.requests).toHaveLength(1);
  });

  test("moves its deadline, pauses, resumes, and knows its new state", async () => {
    const expiresAt = "2027-01-01T00:00:00.000Z";
    const { sandbox, controlPlane } = await sandboxWith({
      "PUT /v1/sandboxes/abc/timeout": ok({ id: "abc", timeout_seconds: 60, expires_at: expiresAt }),
      "POST /v1/sandboxes/abc/pause": ok({ id: "abc", status: "paused" }),
      "POST /v1/sandboxes/abc/resume": ok({ id: "abc", status: "running" }),
    });
    await sandbox.setTimeout(60);
    expect(sandbox.expiresAt?.toISOString()).toBe(expiresAt);
    await sandbox.pause();
    expect(sandbox.status).toBe("paused");
    await sandbox.resume();
    expect(sandbox.status).toBe("running");
    expect(controlPlane.requests[1]?.json).toEqual({ timeout_seconds: 60 });
  });

  test("is changed also by a server that answers without a body", async () => {
    const empty: Handler = (_, response) => response.writeHead(204).end();
    const { sandbox } = await sandboxWith({
      "PUT /v1/sandboxes/abc/timeout": empty,
      "POST /v1/sandboxes/abc/pause": empty,
      "POST /v1/sandboxes/abc/resume": empty,
    });
    await sandbox.setTimeout(60);
    const remaining = (sandbox.expiresAt?.getTime() ?? 0) - Date.now();
    expect(Math.abs(remaining - 60_000)).toBeLessThan(30_000);
    await sandbox.pause();
    expect(sandbox.status).toBe("paused");
    await sandbox.resume();
    expect(sandbox.status).toBe("running");
  });

  test.each<[string, Handler]>([
    ["200", ok({ id: "abc" })],
    ["204", (_, response) => response.writeHead(204).end()],
    ["404 of the service", (_, response) => json(response, 404, { error: "Sandbox abc not found" })],
    ["410", (_, response) => json(response, 410, { error: "expired", code: "SANDBOX_EXPIRED" })],
  ])("is deleted when the answer is %s, and at the end of its scope", async (_, handler) => {
    const { client, controlPlane } = await sandboxWith({ "DELETE /v1/sandboxes/abc": handler });
    {
      await using sandbox = await client.sandboxes.get("abc");
      expect(sandbox.status).toBe("running");
    }
    expect(controlPlane.calls().at(-1)).toBe("DELETE /v1/sandboxes/abc");
  });

  test("is not taken for deleted when a proxy answers with 404", async () => {
    const { client } = await sandboxWith({
      "DELETE /v1/sandboxes/abc": (_, response) =>
        response.writeHead(404, { "content-type": "text/html" }).end("<title>404 Not Found</title>"),
    });
    expect(await rejection(client.sandboxes.delete("abc"))).toMatchObject({ name: "NotFoundError" });
  });

  test.each([
    ["running", ["GET"], "running"],
    ["paused", ["GET", "POST"], "running"],
  ])("that is %s is connected to", async (status, methods, expected) => {
    const { controlPlane } = await sandboxService({
      "GET /v1/sandboxes/abc": ok(wireSandbox("http://127.0.0.1:9", { status })),
      "POST /v1/sandboxes/abc/resume": ok({ id: "abc", status: "running" }),
    });
    const sandbox = await testClient(controlPlane.url).sandboxes.connect("abc");
    expect(sandbox.status).toBe(expected);
    expect(controlPlane.requests.map(({ method }) => method)).toEqual(methods);
  });

  test.each(["stopped", "error", "creating"])("that is %s cannot be connected to", async (status) => {
    const { controlPlane } = await sandboxService({ "GET /v1/sandboxes/abc": ok({ id: "abc", status }) });
    const thrown = await rejection(testClient(controlPlane.url).sandboxes.connect("abc"));
    expect(thrown).toMatchObject({ name: "ConflictError", code: "SANDBOX_NOT_RUNNING" });
  });

  test("that has failed is refused with the reason", async () => {
    const failed = { id: "abc", status: "error", failure_reason: "Its memory was used up." };
    const { controlPlane } = await sandboxService({ "GET /v1/sandboxes/abc": ok(failed) });
    const thrown = await rejection(testClient(controlPlane.url).sandboxes.connect("abc"));
    expect(thrown).toMatchObject({ summary: "Sandbox abc has failed: Its memory was used up." });
  });

  test("without an address is an error when it is used", async () => {
    const { controlPlane } = await sandboxService({
      "GET /v1/sandboxes/abc": ok({ id: "abc", status: "creating" }),
    });
    const sandbox = await testClient(controlPlane.url).sandboxes.get("abc");
    expect(await rejection(sandbox.execute("1"))).toMatchObject({ code: "SANDBOX_NOT_READY" });
  });

  test.each(["", " ", ".", ".."])("is not requested with the invalid id %j", async (id) => {
    const { controlPlane } = await sandboxService();
    const client = testClient(controlPlane.url);
    for (const call of [client.sandboxes.get(id), client.sandboxes.delete(id), client.templates.get(id)]) {
      expect(await rejection(call)).toMatchObject({ name: "ValidationError" });
    }
    expect(controlPlane.requests).toEqual([]);
  });

  test("with slashes in its id is one segment of a path", async () => {
    const { controlPlane } = await sandboxService();
    await rejection(testClient(controlPlane.url).sandboxes.get("a/../b?c#d"));
    expect(controlPlane.calls()).toEqual(["GET /v1/sandboxes/a%2F..%2Fb%3Fc%23d"]);
  });
});

describe("a list", () => {
  const page = (ids: string[], more: Record<string, unknown> = {}): Handler =>
    ok({ object: "list", data: ids.map((id) => ({ id, status: "running" })), ...more });

  async function listed(handler: Handler): Promise<{ ids: string[]; calls: string[] }> {
    const server = await scriptedServer(handler);
    const ids: string[] = [];
    for await (const { id } of testClient(server.url).sandboxes.list({ status: "running", limit: 2 }))
      ids.push(id);
    return { ids, calls: server.calls() };
  }

  test("is fetched a page at a time, with its filters", async () => {
    const { ids, calls } = await listed(
      inTurn(page(["a", "b"], { has_more: true, next_cursor: "2&" }), page(["c"], { has_more: false })),
    );
    expect(ids).toEqual(["a", "b", "c"]);
    expect(calls).toEqual([
      "GET /v1/sandboxes?status=running&limit=2",
      "GET /v1/sandboxes?status=running&limit=2&cursor=2%26",
    ]);
  });

  test.each<[string, Handler, string[]]>([
    ["null for none", ok({ data: null, has_more: false }), []],
    ["more without a cursor", page(["a"], { has_more: true }), ["a"]],
    ["more with an empty cursor", page(["a"], { has_more: true, next_cursor: "" }), ["a"]],
    ["more with a null cursor", page(["a"], { has_more: true, next_cursor: null }), ["a"]],
    ["a cursor without more", page(["a"], { has_more: false, next_cursor: "x" }), ["a"]],
    ["nothing but items", page(["a"]), ["a"]],
  ])("ends after one page that holds %s", async (_, handler, expected) => {
    const { ids, calls } = await listed(handler);
    expect(ids).toEqual(expected);
    expect(calls).toHaveLength(1);
  });

  test("that is awaited is its first page, from which the rest can be read", async () => {
    const pages = inTurn(
      page(["a", "b"], { has_more: true, next_cursor: "2" }),
      page(["c"]),
      page(["a", "b"], { has_more: true, next_cursor: "2" }),
      page(["c"]),
    );
    const server = await scriptedServer(pages);
    const list = testClient(server.url).sandboxes.list();
    const first = await list;
    expect([...first].map(({ id }) => id)).toEqual(["a", "b"]);
    expect(first).toMatchObject({ hasMore: true, nextCursor: "2" });
    expect(server.requests).toHaveLength(1);
    expect((await first.all()).map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(server.requests).toHaveLength(2);
    expect((await list.all()).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  test("whose page cannot be fetched rejects where it is awaited", async () => {
    const server = await scriptedServer((_, response) => json(response, 403, { error: "No" }));
    const { sandboxes, templates } = testClient(server.url);
    expect(await rejection((async () => [...(await sandboxes.list())])())).toMatchObject({ status: 403 });
    expect(await rejection(templates.list().all())).toMatchObject({ status: 403 });
  });

  test("with a cursor that repeats is an error, not an endless loop", async () => {
    const server = await scriptedServer(page(["a"], { has_more: true, next_cursor: "again" }));
    const ids: string[] = [];
    const reading = (async () => {
      for await (const { id } of testClient(server.url).sandboxes.list()) ids.push(id);
    })();
    expect(await rejection(reading)).toMatchObject({ code: "CURSOR_REPEATED" });
    expect(ids).toEqual(["a", "a"]);
  });

  test("that a loop leaves early is not fetched further", async () => {
    const server = await scriptedServer(page(["a", "b"], { has_more: true, next_cursor: "2" }));
    for await (const { id } of testClient(server.url).sandboxes.list()) {
      expect(id).toBe("a");
      break;
    }
    expect(server.requests).toHaveLength(1);
  });

  test("of templates for a language has those of several, and no others", async () => {
    const languages = ["multi", "python", "go", undefined];
    const data = languages.map((language, index) => ({ id: String(index), name: `t${index}`, language }));
    const server = await scriptedServer(ok({ data }));
    const found: string[] = [];
    for await (const { name } of testClient(server.url).templates.list({ language: "python" }))
      found.push(name);
    expect(found).toEqual(["t0", "t1", "t3"]);
  });

  test("of templates says what each can do", async () => {
    const wire = {
      id: "20",
      name: "code-interpreter",
      default_resources: { vcpu: 2, memory_mb: 512, disk_gb: 5 },
    };
    const server = await scriptedServer(
      inTurn(ok({ data: [wire] }), ok({ ...wire, features: ["python"], is_active: true })),
    );
    const { templates } = testClient(server.url);
    const found = [];
    for await (const template of templates.list({ language: "python" })) found.push(template);
    expect(found).toMatchObject([
      { id: "20", name: "code-interpreter", resources: { vcpu: 2, memoryMb: 512, diskGb: 5 }, features: [] },
    ]);
    expect(await templates.get("code-interpreter")).toMatchObject({ features: ["python"], isActive: true });
    expect(server.calls()).toEqual([
      "GET /v1/templates?language=python",
      "GET /v1/templates/code-interpreter",
    ]);
  });
});
