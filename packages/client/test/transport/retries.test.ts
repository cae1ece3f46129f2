import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { parseRetryAfter } from "../../src/errors/error-from-response.js";
import { AbortError, type RetryEvent, type Sandbox, type SandboxClient } from "../../src/index.js";
import { CallScope } from "../../src/transport/calls/calls.js";
import { decidedRetry, RetryPolicy, repeatable } from "../../src/transport/retry-policy.js";
import { carriers, rejection, testClient, unusedUrl } from "../support/clients.js";
import { withSandbox } from "../support/sandbox-service.js";
import { type Handler, inTurn, json, scriptedServer } from "../support/scripted-server.js";

const good: Handler = (_, response) =>
  json(response, 200, {
    id: "abc",
    status: "running",
    stdout: "",
    stderr: "",
    exit_code: 0,
    execution_time: 0,
  });
const status =
  (code: number, headers = {}): Handler =>
  (_, response) =>
    json(response, code, {}, headers);
const reset: Handler = (_, response) => response.destroy();
const resetHalfway: Handler = (_, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": 100 });
  response.write("{", () => response.destroy());
};

type Operation = (client: SandboxClient, sandbox: Sandbox) => Promise<unknown>;
const operations: Record<string, Operation> = {
  get: (client) => client.sandboxes.get("abc"),
  delete: (client) => client.sandboxes.delete("abc"),
  setTimeout: (client) => client.sandboxes.setTimeout("abc", 60),
  create: (client) => client.sandboxes.create(),
  pause: (client) => client.sandboxes.pause("abc"),
  execute: (_, sandbox) => sandbox.execute("print(1)"),
  run: (_, sandbox) => sandbox.commands.run("true"),
  mkdir: (_, sandbox) => sandbox.files.mkdir("/workspace/a"),
};

describe.each(carriers)("over %s", (_, carrier) => {
  // The number of tries of each operation if the fault happens every time. The client tries at most three times.
  const table: [string, Handler, Record<keyof typeof operations, number>][] = [
    [
      "500",
      status(500),
      { get: 3, delete: 3, setTimeout: 3, create: 1, pause: 1, execute: 1, run: 1, mkdir: 1 },
    ],
    [
      "502",
      status(502),
      { get: 3, delete: 3, setTimeout: 3, create: 1, pause: 1, execute: 1, run: 1, mkdir: 1 },
    ],
    [
      "501",
      status(501),
      { get: 1, delete: 1, setTimeout: 1, create: 1, pause: 1, execute: 1, run: 1, mkdir: 1 },
    ],
    [
      "503",
      status(503),
      { get: 3, delete: 3, setTimeout: 3, create: 1, pause: 1, execute: 1, run: 1, mkdir: 1 },
    ],
    [
      "503 with a time",
      status(503, { "retry-after": "0" }),
      { get: 3, delete: 3, setTimeout: 3, create: 3, pause: 3, execute: 1, run: 1, mkdir: 3 },
    ],
    [
      "429",
      status(429),
      { get: 3, delete: 3, setTimeout: 3, create: 3, pause: 3, execute: 1, run: 1, mkdir: 3 },
    ],
    [
      "429 that asks for an hour",
      status(429, { "retry-after": "3600" }),
      { get: 1, delete: 1, setTimeout: 1, create: 1, pause: 1, execute: 1, run: 1, mkdir: 1 },
    ],
    [
      "400",
      status(400),
      { get: 1, delete: 1, setTimeout: 1, create: 1, pause: 1, execute: 1, run: 1, mkdir: 1 },
    ],
    [
      "a reset",
      reset,
      { get: 3, delete: 3, setTimeout: 3, create: 1, pause: 1, execute: 1, run: 1, mkdir: 1 },
    ],
    [
      "a reset in the middle",
      resetHalfway,
      { get: 3, delete: 3, setTimeout: 3, create: 1, pause: 1, execute: 1, run: 1, mkdir: 1 },
    ],
    [
      "a page instead of JSON",
      (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
      { get: 1, setTimeout: 1, create: 1, pause: 1, execute: 1, run: 1 },
    ],
  ];

  describe.each(table)("%s", (_, fault, tries) => {
    test.each(Object.entries(tries))("ends %s after %i tries", async (name, expected) => {
      const server = await scriptedServer(fault);
      const sandbox = await withSandbox(server.url, carrier);
      await rejection((operations[name] as Operation)(testClient(server.url, carrier), sandbox));
      // Do not count GET /health: a client that has lost the answer to a create asks there whether it may repeat the
      // create.
      expect(server.calls().filter((call) => call !== "GET /health")).toHaveLength(expected);
    });
  });

  test.each(Object.keys(operations))(
    "a connection to a port where nothing listens is repeated for %s, because nothing was sent",
    async (name) => {
      const server = await scriptedServer(good);
      const retries: RetryEvent[] = [];
      const options = { ...carrier, hooks: { onRetry: (event: RetryEvent) => retries.push(event) } };
      const sandbox = await withSandbox(unusedUrl, options);
      const thrown = await rejection(
        (operations[name] as Operation)(testClient(unusedUrl, options), sandbox),
      );
      expect(thrown).toMatchObject({ name: "NetworkError", retryable: true });
      expect(retries.map(({ attempt, reason }) => [attempt, reason])).toEqual([
        [1, "ECONNREFUSED"],
        [2, "ECONNREFUSED"],
      ]);
      expect(server.requests).toEqual([]);
    },
  );

  test("a call that succeeds the second time gives its result, and all its tries have one request id", async () => {
    const server = await scriptedServer(inTurn(status(503), reset, good));
    expect((await testClient(server.url, carrier).sandboxes.get("abc")).id).toBe("abc");
    expect(new Set(server.requests.map(({ headers }) => headers["x-request-id"])).size).toBe(1);
  });

  test("a create has the same idempotency key in all its tries, and other creates have other keys", async () => {
    const server = await scriptedServer(inTurn(status(429), status(400)));
    const client = testClient(server.url, carrier);
    await rejection(client.sandboxes.create());
    await rejection(client.sandboxes.create());
    const [first, again, other] = server.requests.map(({ headers }) => headers["idempotency-key"]);
    expect(first).toMatch(/^[\w-]{36}$/);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test.each([
    ["seconds", () => "1", 990],
    ["date", () => new Date(Date.now() + 2500).toUTCString(), 1000],
  ])("the time that a server names in %s is awaited", async (_, header, least) => {
    const server = await scriptedServer(
      inTurn((_, response) => json(response, 429, {}, { "retry-after": header() }), good),
    );
    const started = performance.now();
    await testClient(server.url, carrier).sandboxes.get("abc");
    expect(performance.now() - started).toBeGreaterThan(least);
    expect(server.requests.length).toBe(2);
  });

  test("a wait that is longer than the request's time limit is not begun", async () => {
    const server = await scriptedServer(status(503, { "retry-after": "5" }));
    const client = testClient(server.url, carrier);
    const thrown = await rejection(client.sandboxes.get("abc", { requestTimeoutSeconds: 4 }));
    expect(thrown).toMatchObject({ name: "ServerError", retryAfterSeconds: 5 });
    expect(server.requests.length).toBe(1);
  });

  test("a request is not repeated after its own timeout", async () => {
    const server = await scriptedServer(() => undefined);
    const client = testClient(server.url, carrier);
    const thrown = await rejection(client.sandboxes.get("abc", { requestTimeoutSeconds: 1 }));
    expect(thrown).toMatchObject({ name: "TimeoutError", kind: "request" });
    expect(server.requests.length).toBe(1);
  });

  test("a request is not repeated where retry is switched off", async () => {
    const server = await scriptedServer(status(503));
    await rejection(testClient(server.url, { ...carrier, retry: false }).sandboxes.get("abc"));
    expect(server.requests.length).toBe(1);
  });
});

test.each([
  ["GET", "/env", "always"],
  ["PUT", "/env", "always"],
  ["DELETE", "/execute/kill", "always"],
  ["PATCH", "/env", "refused"],
  ["POST", "/files/write", "refused"],
  ["POST", "/v1/sandboxes", "refused"],
  ["POST", "/execute", "unsent"],
  ["POST", "/execute/rich", "unsent"],
  ["POST", "/commands/run", "unsent"],
  ["POST", "/executes", "refused"],
])("%s %s may be repeated: %s", (method, path, expected) => {
  expect(repeatable(method, path)).toBe(expected);
});

test("pauses between tries grow, are spread out, and never exceed their maximum", () => {
  const policy = new RetryPolicy(decidedRetry({ attempts: 10, baseDelaySeconds: 1, maxDelaySeconds: 4 }));
  for (const [attempt, most] of [
    [1, 1],
    [2, 2],
    [3, 4],
    [9, 4],
  ] as const) {
    const delays = Array.from(
      { length: 200 },
      () => policy.delay({ kind: "unsent" }, "unsent", attempt) ?? -1,
    );
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays)).toBeLessThanOrEqual(most);
    expect(Math.max(...delays)).toBeGreaterThan(most / 2);
    expect(new Set(delays).size).toBeGreaterThan(100);
  }
});

test.each<[string | undefined, string | undefined, number | undefined]>([
  ["120", undefined, 120],
  ["0", undefined, 0],
  ["1.5", undefined, 1.5],
  ["Wed, 21 Oct 2015 07:28:30 GMT", "Wed, 21 Oct 2015 07:28:00 GMT", 30],
  ["Wed, 21 Oct 2015 07:27:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT", 0],
  ["Wed, 21 Oct 2015 07:27:00 GMT", undefined, 0],
  ["soon", undefined, undefined],
  ["-5", undefined, undefined],
  ["", undefined, undefined],
  [undefined, undefined, undefined],
])("Retry-After: %s on %s is %s s", (header, date, expected) => {
  const headers = {
    ...(header !== undefined && { "retry-after": header }),
    ...(date !== undefined && { date }),
  };
  expect(parseRetryAfter(headers)).toBe(expected);
});

test("a pause that is longer than a timer can hold is not cut short", async () => {
  const scope = new CallScope(undefined);
  const sleeping = scope.sleep(3_000_000).then(
    () => "woke",
    () => "stopped",
  );
  expect(await Promise.race([sleeping, setTimeout(20, "sleeps")])).toBe("sleeps");
  scope.stop(new AbortError("enough"));
  expect(await sleeping).toBe("stopped");
});
