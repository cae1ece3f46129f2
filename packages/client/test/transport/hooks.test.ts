import { describe, expect, test } from "vitest";
import type { CallErrorEvent, Hooks } from "../../src/index.js";
import { carriers, rejection, testClient } from "../support/clients.js";
import { answerUpgrade, frameServer } from "../support/frame-server.js";
import { recording, recordingLogger, refused } from "../support/recorders.js";
import { sandboxService, wireSandbox } from "../support/sandbox-service.js";
import { type Handler, inTurn, json, scriptedServer } from "../support/scripted-server.js";

describe.each(carriers)("hooks over %s", (_, carrier) => {
  test("are told of a request and its answer, with the operation and without the query", async () => {
    const server = await scriptedServer((_, response) => json(response, 200, { data: [] }));
    const { hooks, seen } = recording();
    await testClient(server.url, { ...carrier, hooks })
      .sandboxes.list({ region: "here" })
      .pages()
      .next();
    const common = {
      plane: "control plane",
      method: "GET",
      origin: server.url,
      path: "/v1/sandboxes",
      operation: "/v1/sandboxes",
      attempt: 1,
      requestId: server.requests[0]?.headers["x-request-id"],
    };
    expect(seen).toEqual([
      { kind: "request", ...common },
      { kind: "response", ...common, status: 200, durationMs: expect.any(Number) },
    ]);
  });

  test("are told of every try, and of a failure once", async () => {
    const server = await scriptedServer(refused(503));
    const { hooks, seen } = recording();
    const thrown = await rejection(testClient(server.url, { ...carrier, hooks }).sandboxes.get("abc"));
    expect(seen.map(({ attempt, kind, reason, status }) => [kind, attempt, status ?? reason])).toEqual([
      ["request", 1, undefined],
      ["response", 1, 503],
      ["retry", 1, "503"],
      ["request", 2, undefined],
      ["response", 2, 503],
      ["retry", 2, "503"],
      ["request", 3, undefined],
      ["response", 3, 503],
      ["error", 3, undefined],
    ]);
    expect(seen.at(-1)).toMatchObject({ path: "/v1/sandboxes/abc", operation: "/v1/sandboxes/{id}" });
    expect(seen.at(-1)?.error).toBe(thrown);
  });

  const failures: [string, Handler, object][] = [
    ["a refusal", refused(404), { name: "NotFoundError" }],
    [
      "a redirect",
      (_, response) => response.writeHead(302, { location: "/" }).end(),
      { code: "REDIRECT_REFUSED" },
    ],
    [
      "an answer that lacks a field",
      (_, response) => json(response, 200, { id: "abc" }),
      { code: "INVALID_RESPONSE" },
    ],
    [
      "half a JSON",
      (_, response) => response.writeHead(200, { "content-type": "application/json" }).end("{"),
      { code: "INVALID_RESPONSE" },
    ],
    ["a broken connection", (_, response) => response.destroy(), { name: "NetworkError" }],
    ["no answer", () => undefined, { name: "TimeoutError" }],
  ];
  test.each(failures)("are called once for %s, with what the caller gets", async (_, handler, expected) => {
    const server = await scriptedServer(handler);
    const errors: CallErrorEvent[] = [];
    const hooks = { onError: (event: CallErrorEvent) => void errors.push(event) };
    const client = testClient(server.url, {
      ...carrier,
      hooks,
      retry: false,
      timeouts: { requestSeconds: 1 },
    });
    const thrown = await rejection(client.sandboxes.get("abc"));
    expect(thrown).toMatchObject(expected);
    expect(errors.map(({ error }) => error)).toEqual([thrown]);
    expect(errors[0]).toMatchObject({ requestId: server.requests[0]?.headers["x-request-id"], attempt: 1 });
  });

  test("do not get a refused low-level call as an error, because its caller got an answer", async () => {
    const server = await scriptedServer(refused(404));
    const { hooks, seen } = recording();
    const client = testClient(server.url, { ...carrier, hooks });
    const { response } = await client.controlPlane.GET("/v1/sandboxes");
    expect(response.status).toBe(404);
    expect(seen.map(({ kind }) => kind)).toEqual(["request", "response"]);
  });

  test.each(["onRequest", "onResponse", "onRetry", "onError"] as const)(
    "that throw (%s) end the call with their error, and leave no connection",
    async (name) => {
      const body = Buffer.alloc(5_000_000);
      const agent = await scriptedServer(
        name === "onResponse" ? (_, response) => response.writeHead(200).write(body) : refused(503),
      );
      const server = await scriptedServer((_, response) => json(response, 200, wireSandbox(agent.url)));
      let isArmed = false;
      const client = testClient(server.url, {
        ...carrier,
        hooks: {
          [name]: () => {
            if (isArmed) throw new Error(`${name} is broken`);
          },
        },
      });
      const sandbox = await client.sandboxes.get("abc");
      isArmed = true;
      expect(await rejection(sandbox.files.readBytes("big"))).toMatchObject({ message: `${name} is broken` });
      // `close()` resolves only when no call is under way, so a call that the hook has left behind fails here.
      await client.close();
    },
  );
});

test("a hook that throws while a sandbox is created, or a stream opened, leaves neither", async () => {
  const server = await frameServer(() => undefined);
  const broken = new Error("The hook is broken");
  const onResponse: Hooks["onResponse"] = ({ method, status }) => {
    if (status === 101 || method === "POST") throw broken;
  };
  const { controlPlane } = await sandboxService();
  const creating = testClient(controlPlane.url, { hooks: { onResponse } });
  expect(await rejection(creating.sandboxes.create())).toBe(broken);
  await creating.close();
  expect(controlPlane.calls()).toEqual(["POST /v1/sandboxes", "DELETE /v1/sandboxes/abc"]);
  const sandbox = await testClient(server.url, { hooks: { onResponse } }).sandboxes.get("abc");
  expect(await rejection(sandbox.terminal.open())).toBe(broken);
  await expect.poll(() => server.sockets.map((socket) => socket.closed)).toEqual([true]);
});

test("hooks get a stream as a request, and its break as an error", async () => {
  const server = await frameServer((_, socket) => socket.connection.destroy());
  const { hooks, seen } = recording();
  const { logger, lines } = recordingLogger();
  const sandbox = await testClient(server.url, { hooks, logger }).sandboxes.get("abc");
  seen.length = 0;
  const thrown = await rejection(sandbox.executeStream("1").result());
  const path = "/agent/abc/execute/stream";
  const common = { plane: "agent", method: "GET", operation: "/execute/stream", path, attempt: 1 };
  expect(seen).toMatchObject([
    { kind: "request", ...common },
    { kind: "response", ...common, status: 101 },
    { kind: "error", ...common, error: thrown },
  ]);
  expect(lines).toMatchObject([{ level: "error", text: expect.stringContaining(`GET ${path} failed: `) }]);
});

test("hooks do not get a stream that its reader leaves as failed", async () => {
  const server = await frameServer((_, socket) => socket.send({ type: "stdout", data: "1" }));
  const { hooks, seen } = recording();
  const sandbox = await testClient(server.url, { hooks }).sandboxes.get("abc");
  for await (const _ of sandbox.executeStream("1")) break;
  expect(seen.map(({ kind }) => kind)).toEqual(["request", "response", "request", "response"]);
});

test("hooks get a stream that is refused, with each try", async () => {
  const server = await frameServer(
    () => undefined,
    (_, connection) => answerUpgrade(connection, 503, { error: "later" }),
  );
  const { hooks, seen } = recording();
  const sandbox = await testClient(server.url, { hooks }).sandboxes.get("abc");
  seen.length = 0;
  const thrown = await rejection(sandbox.terminal.open());
  expect(seen.map(({ kind, attempt }) => `${kind} ${attempt}`)).toEqual([
    "request 1",
    "response 1",
    "retry 1",
    "request 2",
    "response 2",
    "retry 2",
    "request 3",
    "response 3",
    "error 3",
  ]);
  expect(seen.at(-1)?.error).toBe(thrown);
});

test("hooks do not get the wait for a new sandbox as a failure", async () => {
  const agent = await scriptedServer(
    inTurn(refused(502), refused(401), (_, response) => json(response, 200, { exists: true })),
  );
  const server = await scriptedServer((_, response) =>
    json(response, 201, wireSandbox(agent.url, { isolation: undefined })),
  );
  const { hooks, seen } = recording();
  const { logger, lines } = recordingLogger();
  await testClient(server.url, { hooks, logger }).sandboxes.create();
  expect(seen.filter(({ kind }) => kind === "error")).toEqual([]);
  expect(lines).toEqual([]);
});
