import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import * as library from "../../src/index.js";
import { apiKey, carriers, rejection, testClient } from "../support/clients.js";
import { json, scriptedServer } from "../support/scripted-server.js";

type ErrorName = {
  [Name in keyof typeof library]: Name extends `${string}Error` ? Name : never;
}[keyof typeof library];

interface Case {
  status: number;
  body: unknown;
  error: ErrorName;
  code: string;
  summary: string;
  more?: Record<string, unknown>;
}

const nested = (code: string, message: string, details = {}) => ({
  error: { message, code, request_id: "req_nested", details },
  message,
  code,
  request_id: "req_nested",
});

const cases: [string, Case][] = [
  [
    "the flat envelope of an agent",
    {
      status: 404,
      body: { error: "File not found: /workspace/a", code: "FILE_NOT_FOUND", request_id: "req_flat" },
      error: "NotFoundError",
      code: "FILE_NOT_FOUND",
      summary: "File not found: /workspace/a",
      more: { requestId: "req_flat" },
    },
  ],
  [
    "the nested envelope",
    {
      status: 404,
      body: { error: { message: "No such sandbox", code: "SANDBOX_NOT_FOUND", request_id: "req_nested" } },
      error: "NotFoundError",
      code: "SANDBOX_NOT_FOUND",
      summary: "No such sandbox",
      more: { requestId: "req_nested" },
    },
  ],
  [
    "both envelopes in one, with details",
    {
      status: 400,
      body: nested("INVALID_REQUEST", "timeout_seconds must be >= 1", {
        errors: [{ field: "timeout_seconds" }],
      }),
      error: "ValidationError",
      code: "INVALID_REQUEST",
      summary: "timeout_seconds must be >= 1",
      more: { details: { errors: [{ field: "timeout_seconds" }] } },
    },
  ],
  [
    "a message alone",
    {
      status: 403,
      body: { message: "Forbidden" },
      error: "PermissionDeniedError",
      code: "FORBIDDEN",
      summary: "Forbidden",
    },
  ],
  [
    "the detail of other frameworks",
    {
      status: 409,
      body: { detail: "Name in use" },
      error: "ConflictError",
      code: "CONFLICT",
      summary: "Name in use",
    },
  ],
  [
    "words instead of a code",
    {
      status: 404,
      body: { error: "Sandbox 17abc not found" },
      error: "NotFoundError",
      code: "SANDBOX_NOT_FOUND",
      summary: "Sandbox 17abc not found",
    },
  ],
  [
    "a sandbox whose time is over",
    {
      status: 410,
      body: nested("SANDBOX_EXPIRED", "Its deadline passed"),
      error: "SandboxExpiredError",
      code: "SANDBOX_EXPIRED",
      summary: "Its deadline passed",
    },
  ],
  [
    "a wrong key",
    {
      status: 401,
      body: { error: "Invalid API key" },
      error: "AuthenticationError",
      code: "AUTHENTICATION_REQUIRED",
      summary: "Invalid API key",
    },
  ],
  [
    "an empty account",
    {
      status: 402,
      body: { error: "No credit" },
      error: "ResourceLimitError",
      code: "PAYMENT_REQUIRED",
      summary: "No credit",
    },
  ],
  [
    "a limit told by 403",
    {
      status: 403,
      body: { error: "Sandbox limit reached" },
      error: "ResourceLimitError",
      code: "RESOURCE_LIMIT_ERROR",
      summary: "Sandbox limit reached",
    },
  ],
  [
    "a limit told by 429",
    {
      status: 429,
      body: nested("RESOURCE_LIMIT_ERROR", "10 sandboxes run", { limit: 10 }),
      error: "ResourceLimitError",
      code: "RESOURCE_LIMIT_ERROR",
      summary: "10 sandboxes run",
    },
  ],
  [
    "too many requests, with the seconds beside the message",
    {
      status: 429,
      body: { error: "Slow down", code: "RATE_LIMIT_EXCEEDED", retry_after: 99 },
      error: "RateLimitError",
      code: "RATE_LIMIT_EXCEEDED",
      summary: "Slow down",
      more: { retryAfterSeconds: 99, retryable: true },
    },
  ],
  [
    "too many requests, with the seconds in the details",
    {
      status: 429,
      body: { error: { message: "Slow down", details: { retry_after_seconds: 7 } } },
      error: "RateLimitError",
      code: "RATE_LIMIT_EXCEEDED",
      summary: "Slow down",
      more: { retryAfterSeconds: 7 },
    },
  ],
  [
    "an execution limit told by 408",
    {
      status: 408,
      body: { error: "Execution timed out", code: "EXECUTION_TIMEOUT" },
      error: "TimeoutError",
      code: "EXECUTION_TIMEOUT",
      summary: "Execution timed out",
      more: { kind: "execution" },
    },
  ],
  [
    "a page of a proxy",
    {
      status: 502,
      body: "<html><head><title>502 Bad Gateway</title></head><body><h1>oh</h1></body></html>",
      error: "ServerError",
      code: "HTTP_502",
      summary: "502 Bad Gateway",
    },
  ],
  [
    "a page without a title",
    {
      status: 500,
      body: "<p>It\n\n<b>broke</b></p>",
      error: "ServerError",
      code: "HTTP_500",
      summary: "It broke",
    },
  ],
  [
    "text",
    { status: 418, body: "I am a teapot", error: "ApiError", code: "HTTP_418", summary: "I am a teapot" },
  ],
  [
    "nothing at all",
    {
      status: 503,
      body: "",
      error: "ServerError",
      code: "HTTP_503",
      summary: "The server answered 503 without saying why.",
    },
  ],
  [
    "JSON that says nothing",
    {
      status: 400,
      body: [1],
      error: "ValidationError",
      code: "INVALID_REQUEST",
      summary: "The server answered 400 without saying why.",
    },
  ],
];

describe.each(carriers)("over %s, the error of a server that answers", (_, carrier) => {
  test.each(cases)("%s", async (_, { status, body, error, code, summary, more }) => {
    const server = await scriptedServer((_, response) => {
      if (typeof body !== "string") return json(response, status, body);
      response.writeHead(status, { "content-type": "text/html" }).end(body);
    });
    const client = testClient(server.url, { ...carrier, retry: false });
    const thrown = await rejection(client.sandboxes.get("abc"));
    expect(thrown).toBeInstanceOf(library[error]);
    expect(thrown).toMatchObject({ name: error, code, summary, ...more });
    expect(library.isSandboxError(thrown)).toBe(true);
    if (error !== "TimeoutError") expect(thrown).toMatchObject({ status });
  });
});

test("an error says what to do, and has status, code and request id as fields", async () => {
  const server = await scriptedServer((_, response) =>
    json(response, 404, nested("SANDBOX_NOT_FOUND", "Sandbox abc not found."), {
      "x-request-id": "req_header",
    }),
  );
  const thrown = await rejection(testClient(server.url).sandboxes.get("abc"));
  expect(thrown).toMatchObject({
    status: 404,
    code: "SANDBOX_NOT_FOUND",
    requestId: "req_header",
    message:
      "Sandbox abc not found. " +
      "client.sandboxes.list() shows the sandboxes that exist, client.sandboxes.create() makes one.",
  });
});

test.each<[number, string, string, string | undefined, string | undefined]>([
  [
    401,
    "INVALID_API_KEY",
    "This API key is not valid for this control plane.",
    "Check CLOUD_SANDBOX_API_KEY.",
    "Check the API key: CLOUD_SANDBOX_API_KEY (or HOPX_API_KEY), or the apiKey option.",
  ],
  [
    410,
    "SANDBOX_FAILED",
    "Sandbox abc has failed. It ran out of memory.",
    "Delete the sandbox and create a new one.",
    "Create another sandbox; if that keeps failing, report the request id to the server's operator.",
  ],
  [
    404,
    "TEMPLATE_NOT_FOUND",
    'Template "x" not found. Templates here: base, go.',
    undefined,
    "client.templates.list() shows the templates that exist.",
  ],
  [
    404,
    "NOT_FOUND",
    "There is no GET /v2/sandboxes/abc.",
    undefined,
    "Check CLOUD_SANDBOX_BASE_URL (or the baseUrl option): it is the address without /v1.",
  ],
  [409, "CONFLICT", "The name is taken.", "Choose another name.", "Choose another name."],
  [
    400,
    "INVALID_REQUEST",
    "workdir /tmp/a does not exist.",
    "Create it with /files/mkdir, or leave it out.",
    "Create it with files.mkdir(), or leave it out.",
  ],
  [413, "FILE_TOO_LARGE", "/tmp/a is larger than 9 bytes.", "Use /files/download.", "Use files.readBytes()."],
  [400, "INVALID_REQUEST", "No such region.", undefined, "Correct what the message names, and call again."],
  [400, "INVALID_REQUEST", "Use another name.", undefined, "Correct what the message names, and call again."],
  [400, "DESKTOP_NOT_AVAILABLE", "There is no desktop.", undefined, "Another server may support this call."],
])("%d %s gives one advice, in this client's terms: %s %s", async (status, code, summary, sent, hint) => {
  const error = { message: sent === undefined ? summary : `${summary} ${sent}`, code };
  const body = { error, message: error.message, code, ...(sent !== undefined && { hint: sent }) };
  const server = await scriptedServer((_, response) => json(response, status, body));
  const thrown = await rejection(testClient(server.url, { retry: false }).sandboxes.get("abc"));
  expect(thrown).toMatchObject({ code, summary, hint });
  expect(Object(thrown).serverHint === undefined).toBe(sent === undefined);
});

test("an error has the request id that was sent if the server returns none", async () => {
  const server = await scriptedServer((_, response) => json(response, 400, {}));
  const thrown = await rejection(testClient(server.url).sandboxes.get("abc"));
  expect(thrown).toMatchObject({ requestId: server.requests[0]?.headers["x-request-id"] });
});

test("a secret that a server repeats is in no error", async () => {
  const jwt = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";
  const server = await scriptedServer((_, response) =>
    json(
      response,
      400,
      { error: `Key ${apiKey} and token ${jwt}`, details: { sent: { key: apiKey }, list: [jwt] } },
      { "set-cookie": "session=1234567", "x-echo": `key=${apiKey}`, "x-auth-token": jwt },
    ),
  );
  const thrown = await rejection(testClient(server.url).sandboxes.get("abc"));
  expect(thrown).toBeInstanceOf(library.ValidationError);
  const { message, stack, headers, details } = thrown as library.ValidationError;
  for (const text of [message, stack ?? "", JSON.stringify(headers), JSON.stringify(details)]) {
    expect(text).not.toContain(apiKey);
    expect(text).not.toContain(jwt);
    expect(text).not.toContain("1234567");
  }
  expect(headers["x-echo"]).toBe("key=[redacted]");
});

/** Processor time, not time: a busy machine makes a test slow, a pattern that backtracks uses the processor. */
const mostMicroseconds = 4_000_000;

test.each([
  ["tokens that do not end", { error: "eyJ-".repeat(20_000) }],
  ["markup that does not end", "<".repeat(20_000)],
])("answers that are full of %s are read at once", async (_, body) => {
  const server = await scriptedServer((_, response) => json(response, 400, body));
  const client = testClient(server.url);
  const before = process.cpuUsage();
  for (let times = 0; times < 30; times++)
    expect(await rejection(client.sandboxes.get("abc"))).toBeInstanceOf(library.ValidationError);
  expect(process.cpuUsage(before).user).toBeLessThan(mostMicroseconds);
});

test("a long reason of a failed build is read at once", () => {
  const before = process.cpuUsage();
  const reason = `a${" ".repeat(200_000)}b`;
  const failure = { reason: `${reason}. `, buildId: "1", templateId: "2", step: undefined, log: "Oh." };
  expect(new library.TemplateBuildError(failure).message).toContain(`${reason}:\nOh.\n`);
  expect(process.cpuUsage(before).user).toBeLessThan(mostMicroseconds);
});

test("an error of another copy of this package is recognised", () => {
  const foreign = Object.assign(new Error("elsewhere"), { [Symbol.for("cloud-sandbox.error")]: true });
  expect(library.isSandboxError(foreign)).toBe(true);
  for (const other of [new Error("plain"), null, undefined, "text", {}]) {
    expect(library.isSandboxError(other)).toBe(false);
  }
});

test("the low-level client gives the error's body instead of throwing", async () => {
  const body = { error: "Sandbox abc not found", code: "SANDBOX_NOT_FOUND" };
  const server = await scriptedServer((_, response) => json(response, 404, body));
  const client = testClient(server.url);
  const { data, error, response } = await client.controlPlane.GET("/v1/sandboxes/{id}", {
    params: { path: { id: "abc" } },
  });
  expect(data).toBeUndefined();
  expect(error).toEqual(body);
  expect(response.status).toBe(404);
});

test("the low-level client's answer shows no key, however it is looked at", async () => {
  const server = await scriptedServer((_, response) => json(response, 200, { data: [] }));
  const answer = await testClient(server.url).controlPlane.GET("/v1/sandboxes");
  expect(server.requests[0]?.headers["x-api-key"]).toBe(apiKey);
  for (const one of [answer, answer.response, answer.response.clone()]) {
    const shown = inspect(one, { depth: 10, showHidden: true, getters: true });
    expect(shown).toContain("status: 200");
    expect(shown).not.toContain(apiKey);
    expect(shown).not.toContain("secrets");
  }
});
