import { EventEmitter, once } from "node:events";
import { request as httpRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import {
  type ContractRouterOptions,
  contractRouter,
  controlPlaneEnvelope,
  Problem,
  Reply,
  type RequestEvent,
} from "@cloud-sandbox/server-kit";
import { controlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ControlPlaneContract } from "../src/generated/control-plane-contract.js";
import { type Server, serve } from "./serve.js";

const events: RequestEvent[] = [];
const errors: unknown[] = [];
const lifecycle = new EventEmitter();

const options: ContractRouterOptions<ControlPlaneContract, { account: string }> = {
  contract: controlPlaneContract,
  envelope: controlPlaneEnvelope,
  bodyLimit: 1000,
  authenticate: ({ header }) => {
    if (header("x-api-key") !== "key") throw new Problem(401, "INVALID_API_KEY", "The API key is not valid.");
    return { account: "me" };
  },
  onRequest: (event) => events.push(event),
  onError: (error) => errors.push(error),
  handlers: {
    getHealth: ({ auth }) => ({ status: auth === undefined ? "healthy" : "odd" }),
    listSandboxes: ({ query, auth }) => ({ data: [], url: `${auth.account} ${JSON.stringify(query)}` }),
    createSandbox: ({ body, header, responseHeaders }) => {
      responseHeaders["x-seen"] = header("idempotency-key") ?? "none";
      return { id: "1", status: "running", template_name: JSON.stringify(body) };
    },
    getSandbox: ({ params }) => {
      if (params.id === "broken") throw new Error("secret internals");
      throw new Problem(404, "SANDBOX_NOT_FOUND", `Sandbox ${params.id} not found.`, {
        details: { path: params.id },
        headers: { "retry-after": "3" },
      });
    },
    deleteSandbox: ({ params }) => ({ id: params.id, deleted: true }),
    pauseSandbox: async ({ signal, params }) => {
      lifecycle.emit("waiting");
      await once(signal, "abort");
      lifecycle.emit("aborted");
      return { id: params.id };
    },
    createSnapshot: ({ body }) => new Reply(JSON.stringify(body), {}),
    setSandboxTimeout: ({ body }) => ({ timeout_seconds: body.timeout_seconds }),
    buildTemplate: ({ body }) => ({ build_id: "b", template_id: JSON.stringify(body) }),
    getTemplateBuildLogs: ({ query }) =>
      new Reply(`offset ${query.offset}`, { "content-type": "text/event-stream" }),
    uploadTemplateFiles: async ({ request, params }) => ({
      files_hash: params.files_hash,
      size: (await buffer(request)).byteLength,
    }),
  },
};

let server: Server;
beforeAll(async () => {
  server = await serve(contractRouter(options));
});
afterAll(() => server[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what a server answers is looked at, not typed.
  readonly body: any;
}

async function call(
  method: string,
  path: string,
  init: RequestInit & { json?: unknown } = {},
): Promise<Answer> {
  const body = init.json === undefined ? init.body : JSON.stringify(init.json);
  const headers = { "x-api-key": "key", ...init.headers };
  const response = await fetch(server.url + path, {
    ...init,
    method,
    headers,
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type") === "application/json" && text !== "";
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

describe("an answer", () => {
  test("has the contract's success status and the handler's JSON and headers", async () => {
    const answer = await call("POST", "/v1/sandboxes", {
      json: { template_name: "base", unknown: 1 },
      headers: { "idempotency-key": "k" },
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("x-seen")).toBe("k");
    expect(JSON.parse(answer.body.template_name)).toMatchObject({ template_name: "base", unknown: 1 });
  });

  test("may be a response of the handler's own", async () => {
    const answer = await call("GET", "/v1/templates/build/b/logs");
    expect(answer.body).toBe("offset 0");
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
  });

  test("to HEAD is that to GET without its body", async () => {
    const answer = await call("HEAD", "/health");
    expect([answer.status, answer.body]).toEqual([200, ""]);
  });

  test("leaves a body that is not JSON to the handler", async () => {
    const body = Buffer.alloc(5000, "{");
    const answer = await call("PUT", "/v1/templates/files/abc?grant=g", {
      body,
      headers: { "x-api-key": "" },
    });
    expect(answer.body).toEqual({ files_hash: "abc", size: 5000 });
  });

  test.each([
    ["req-1.a:b_C", "req-1.a:b_C"],
    ["has space", /^req_/],
    ["x".repeat(200), /^req_/],
  ])("carries a request id: %s", async (given, expected) => {
    const answer = await call("GET", "/v1/sandboxes/1", { headers: { "x-request-id": given } });
    expect(answer.headers.get("x-request-id")).toMatch(expected);
    expect(answer.body.request_id).toBe(answer.headers.get("x-request-id"));
  });
});

describe("routing", () => {
  test.each([
    ["GET", "/v2/sandboxes", 404, "NOT_FOUND", null],
    ["GET", "/v1/sandboxes/a/b", 404, "NOT_FOUND", null],
    ["PATCH", "/v1/sandboxes", 405, "METHOD_NOT_ALLOWED", "GET, HEAD, POST"],
    ["POST", "/v1/sandboxes/1", 405, "METHOD_NOT_ALLOWED", "DELETE, GET, HEAD, PATCH"],
    ["HEAD", "/v1/sandboxes/1/pause", 405, "METHOD_NOT_ALLOWED", "POST"],
    ["POST", "/v1/sandboxes/1/stop", 404, "NOT_FOUND", null],
  ])("%s %s is %i", async (method, path, status, code, allow) => {
    const answer = await call(method, path);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("allow")).toBe(allow);
    if (method !== "HEAD") expect(answer.body.code).toBe(code);
  });

  test("decodes path parameters", async () => {
    expect((await call("DELETE", "/v1/sandboxes/a%20b")).body.id).toBe("a b");
  });
});

describe("authentication", () => {
  test("refuses before anything else is looked at", async () => {
    const answer = await call("POST", "/v1/sandboxes", { body: "{", headers: { "x-api-key": "wrong" } });
    expect([answer.status, answer.body.code]).toEqual([401, "INVALID_API_KEY"]);
  });

  test("is not asked of public operations", async () => {
    expect((await call("GET", "/health", { headers: { "x-api-key": "" } })).body.status).toBe("healthy");
  });
});

describe("validation", () => {
  const build = { name: "n", from_image: "debian", cpu: 1, memory: 512, diskGB: 1 };
  test.each<[string, string, unknown, string, string]>([
    ["PUT", "/v1/sandboxes/1/timeout", {}, "MISSING_PARAMETER", "timeout_seconds is required"],
    [
      "PUT",
      "/v1/sandboxes/1/timeout",
      { timeout_seconds: null },
      "MISSING_PARAMETER",
      "timeout_seconds is required",
    ],
    [
      "PUT",
      "/v1/sandboxes/1/timeout",
      { timeout_seconds: 0 },
      "INVALID_REQUEST",
      "timeout_seconds must be >= 1 (seconds)",
    ],
    [
      "PUT",
      "/v1/sandboxes/1/timeout",
      { timeout_seconds: 86401 },
      "INVALID_REQUEST",
      "timeout_seconds must be <= 86400 (seconds)",
    ],
    [
      "PUT",
      "/v1/sandboxes/1/timeout",
      { timeout_seconds: "9" },
      "INVALID_REQUEST",
      "timeout_seconds must be an integer",
    ],
    ["PUT", "/v1/sandboxes/1/timeout", [], "INVALID_REQUEST", "the body must be an object"],
    [
      "POST",
      "/v1/sandboxes",
      {},
      "MISSING_PARAMETER",
      "template_id or template_name or snapshot is required",
    ],
    ["POST", "/v1/sandboxes", { template_name: "" }, "INVALID_REQUEST", "template_name must not be empty"],
    [
      "POST",
      "/v1/sandboxes",
      { template_id: true },
      "INVALID_REQUEST",
      "template_id must be a string or an integer or an object",
    ],
    [
      "POST",
      "/v1/sandboxes",
      { template_name: "b", env_vars: { A: 1 } },
      "INVALID_REQUEST",
      "env_vars.A must be a string",
    ],
    [
      "POST",
      "/v1/sandboxes",
      { template_name: "b", secrets: { "A-1": { value: "12345678", hosts: ["a.example"] } } },
      "INVALID_REQUEST",
      'secrets must not have the name "A-1": it must be letters, digits and underscores, without a digit first',
    ],
    [
      "POST",
      "/v1/sandboxes",
      {
        template_name: "b",
        secrets: { A: { value: "12345678", hosts: ["a.example"], headers: { "a b": "{value}" } } },
      },
      "INVALID_REQUEST",
      'secrets.A.headers must not have the name "a b": it must be the name of a header',
    ],
    [
      "POST",
      "/v1/sandboxes",
      { template_name: "b", min_isolation: "none" },
      "INVALID_REQUEST",
      "min_isolation must be one of namespace, container, gvisor, microvm",
    ],
    [
      "POST",
      "/v1/templates/build",
      { ...build, steps: [{ args: [] }] },
      "MISSING_PARAMETER",
      "steps[0].type is required",
    ],
    [
      "POST",
      "/v1/templates/build",
      { ...build, cpu: 0, memory: 1 },
      "INVALID_REQUEST",
      "cpu must be >= 1; memory must be >= 512 (megabytes)",
    ],
    ["GET", "/v1/sandboxes?limit=0", undefined, "INVALID_REQUEST", "limit must have another value"],
    ["GET", "/v1/sandboxes?limit=-2", undefined, "INVALID_REQUEST", "limit must be >= -1"],
    ["GET", "/v1/sandboxes?limit=ten", undefined, "INVALID_REQUEST", "limit must be an integer"],
    ["GET", "/v1/sandboxes?limit=", undefined, "INVALID_REQUEST", "limit must be an integer"],
    ["PUT", "/v1/templates/files/abc", undefined, "MISSING_PARAMETER", "grant is required"],
  ])("%s %s %j is %s", async (method, path, json, code, message) => {
    const answer = await call(method, path, { json });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code, message, error: { code, message } });
  });

  test("stays short about a body that is wrong everywhere", async () => {
    const wrong = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`A${index}`, 1]));
    await using large = await serve(contractRouter({ ...options, bodyLimit: 1_000_000 }));
    const body = JSON.stringify({ template_name: "base", env_vars: wrong });
    const response = await fetch(`${large.url}/v1/sandboxes`, {
      method: "POST",
      body,
      headers: { "x-api-key": "key" },
    });
    const { error } = (await response.json()) as Answer["body"];
    expect(error.details.errors).toHaveLength(100);
  });

  test("fills in defaults, converts the query and ignores what the contract does not know", async () => {
    expect((await call("GET", "/v1/sandboxes?x=1")).body.url).toBe('me {"x":"1","limit":100}');
    expect((await call("GET", "/v1/sandboxes?limit=7")).body.url).toBe('me {"limit":7}');
  });

  test("takes a null field for an absent one", async () => {
    const answer = await call("POST", "/v1/templates/build", {
      json: { ...build, startCmd: null, readyCmd: null },
    });
    expect(JSON.parse(answer.body.template_id)).toEqual(build);
  });

  test.each([undefined, "null"])(
    "takes the body %s for one without fields, where none is required",
    async (body) => {
      expect((await call("POST", "/v1/sandboxes/1/snapshots", body ? { body } : {})).body).toBe("{}");
    },
  );

  test.each(["{", "code=1", '"\\u"'])("says that %s is not JSON, without repeating it", async (body) => {
    const answer = await call("POST", "/v1/sandboxes", { body });
    expect([answer.status, answer.body.code]).toEqual([400, "INVALID_JSON"]);
    expect(answer.body.message).not.toContain(body);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", ""])(
    "reads JSON sent as %j",
    async (type) => {
      const answer = await call("POST", "/v1/sandboxes", {
        json: { template_id: 20 },
        headers: { "content-type": type },
      });
      expect(answer.status).toBe(201);
    },
  );

  test.each(["content-length", "transfer-encoding"])(
    "refuses a body over the limit by its %s",
    async (kind) => {
      const text = JSON.stringify({ template_name: "x".repeat(1000) });
      const body = kind === "content-length" ? text : new Blob([text]).stream();
      const answer = await call("POST", "/v1/sandboxes", { body, duplex: "half" } as RequestInit);
      expect([answer.status, answer.body.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    },
  );

  test("reads a body that comes in chunks", async () => {
    const body = new Blob(['{"template_name":', '"é"}']).stream();
    const answer = await call("POST", "/v1/sandboxes", { body, duplex: "half" } as RequestInit);
    expect(JSON.parse(answer.body.template_name)).toMatchObject({ template_name: "é" });
  });
});

describe("errors", () => {
  test("are worded in the plane's envelope, with their headers", async () => {
    const answer = await call("GET", "/v1/sandboxes/7");
    expect(answer.headers.get("retry-after")).toBe("3");
    expect(answer.body).toEqual({
      error: {
        message: "Sandbox 7 not found.",
        code: "SANDBOX_NOT_FOUND",
        request_id: answer.headers.get("x-request-id"),
        details: { path: "7" },
      },
      message: "Sandbox 7 not found.",
      code: "SANDBOX_NOT_FOUND",
      request_id: answer.headers.get("x-request-id"),
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test("that nobody expected become a 500 without their text, which goes to the log", async () => {
    const answer = await call("GET", "/v1/sandboxes/broken");
    expect([answer.status, answer.body.code]).toEqual([500, "INTERNAL_ERROR"]);
    expect(JSON.stringify(answer.body)).not.toContain("secret");
    expect(errors.at(-1)).toMatchObject({ message: "secret internals" });
  });
});

test("every answer is reported with its operation, status and duration", async () => {
  events.length = 0;
  await call("GET", "/health");
  await call("GET", "/nowhere");
  expect(events).toMatchObject([
    { operation: { operationId: "getHealth" }, method: "GET", status: 200 },
    { operation: undefined, method: "GET", status: 404 },
  ]);
  for (const event of events) expect(event.durationMs).toBeGreaterThanOrEqual(0);
});

test("a handler learns that its client has gone away", async () => {
  const [waiting, aborted] = [once(lifecycle, "waiting"), once(lifecycle, "aborted")];
  const request = httpRequest(`${server.url}/v1/sandboxes/1/pause`, {
    method: "POST",
    headers: { "x-api-key": "key" },
  });
  request.on("error", () => request.destroy());
  request.end();
  await waiting;
  request.destroy();
  await aborted;
});
