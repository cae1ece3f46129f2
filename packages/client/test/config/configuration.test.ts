import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as library from "../../src/index.js";
import { SandboxClient, type SandboxClientOptions, version } from "../../src/index.js";
import { openTelemetry } from "../../src/opentelemetry.js";
import { json, scriptedServer } from "../support/scripted-server.js";

const names = ["API_KEY", "BACKEND", "BASE_URL", "BEARER_TOKEN"].flatMap((name) => [
  `CLOUD_SANDBOX_${name}`,
  `HOPX_${name}`,
]);
const before = Object.fromEntries(names.map((name) => [name, process.env[name]]));

beforeEach(() => {
  for (const name of names) delete process.env[name];
});
afterEach(() => {
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

function failure(options?: SandboxClientOptions): unknown {
  try {
    return new SandboxClient(options);
  } catch (error) {
    return error;
  }
}

describe("a client", () => {
  test.each<[string, Record<string, string>, SandboxClientOptions, Record<string, string | undefined>]>([
    ["options", {}, { apiKey: "option" }, { "x-api-key": "option", authorization: undefined }],
    ["our names", { CLOUD_SANDBOX_API_KEY: "ours", HOPX_API_KEY: "theirs" }, {}, { "x-api-key": "ours" }],
    [
      "HOPX's names",
      { HOPX_API_KEY: "theirs", HOPX_BEARER_TOKEN: "b" },
      {},
      { "x-api-key": "theirs", authorization: "Bearer b" },
    ],
    [
      "options over names",
      { CLOUD_SANDBOX_API_KEY: "ours" },
      { apiKey: "option" },
      { "x-api-key": "option" },
    ],
    [
      "names where an option is empty",
      { CLOUD_SANDBOX_API_KEY: "", HOPX_API_KEY: "theirs" },
      {},
      { "x-api-key": "theirs" },
    ],
    ["a file's line", {}, { apiKey: " key\n" }, { "x-api-key": "key" }],
    [
      "a bearer token alone",
      { CLOUD_SANDBOX_BEARER_TOKEN: "b" },
      {},
      { "x-api-key": undefined, authorization: "Bearer b" },
    ],
  ])("takes its credentials from %s", async (_, environment, options, expected) => {
    const server = await scriptedServer((_, response) => json(response, 200, { status: "healthy" }));
    Object.assign(process.env, { CLOUD_SANDBOX_BASE_URL: server.url }, environment);
    await using client = new SandboxClient(options);
    expect(await client.health()).toMatchObject({ healthy: true, status: "healthy" });
    const { "x-api-key": key, authorization } = server.requests[0]?.headers ?? {};
    expect({ "x-api-key": key, authorization }).toMatchObject(expected);
  });

  test.each([
    ["", "/v1/templates"],
    ["/", "/v1/templates"],
    ["/proxy/sandboxes/", "/proxy/sandboxes/v1/templates"],
    ["/v1", "/v1/templates"],
    ["/proxy/v1/", "/proxy/v1/templates"],
    ["/proxy-v1", "/proxy-v1/v1/templates"],
  ])("calls below its base URL's path %j", async (suffix, expected) => {
    const server = await scriptedServer((_, response) => json(response, 200, { data: [] }));
    await using client = new SandboxClient({ apiKey: "key", baseUrl: server.url + suffix });
    await client.templates.list().pages().next();
    expect(server.calls()).toEqual([`GET ${expected}`]);
  });

  test.each<[string, string, Record<string, string>, SandboxClientOptions]>([
    ["local", "nothing says otherwise", {}, {}],
    ["local", "keys are empty", { CLOUD_SANDBOX_API_KEY: " " }, { apiKey: "" }],
    ["local", "the environment says so, with a key", { BACKEND: "local", CLOUD_SANDBOX_API_KEY: "k" }, {}],
    ["local", "the option says so, with a key", { CLOUD_SANDBOX_API_KEY: "k" }, { backend: "local" }],
    ["cloud", "there is a key", { HOPX_API_KEY: "k" }, {}],
    ["cloud", "there is a bearer token", { HOPX_BEARER_TOKEN: "b" }, {}],
    ["cloud", "a key is given, whatever the environment says", { BACKEND: "local" }, { apiKey: "k" }],
    ["cloud", "the environment says so", { BACKEND: " cloud ", CLOUD_SANDBOX_API_KEY: "k" }, {}],
  ])("takes the backend %s where %s", (backend, _, { BACKEND, ...environment }, options) => {
    Object.assign(process.env, environment, BACKEND && { CLOUD_SANDBOX_BACKEND: BACKEND });
    expect(new SandboxClient(options).backend).toBe(backend);
  });

  test.each<[string, Record<string, string>, SandboxClientOptions, object]>([
    ["with no key", { CLOUD_SANDBOX_BACKEND: "cloud" }, {}, { code: "API_KEY_MISSING" }],
    ["with no key for an address", {}, { baseUrl: "http://127.0.0.1:7007" }, { code: "API_KEY_MISSING" }],
    ["of no such name", { CLOUD_SANDBOX_BACKEND: "moon" }, {}, { code: "BACKEND_INVALID" }],
  ])("refuses a backend %s", (_, environment, options, expected) => {
    Object.assign(process.env, environment);
    expect(failure(options)).toMatchObject({ name: "ConfigurationError", ...expected });
    expect(String(failure(options))).toMatch(/CLOUD_SANDBOX_BACKEND/);
  });

  test("without a key where there is no Node.js says how to get one", () => {
    vi.stubGlobal("process", undefined);
    try {
      expect(failure()).toMatchObject({ code: "API_KEY_MISSING" });
      expect(String(failure())).toMatch(/need Node\.js.*CLOUD_SANDBOX_API_KEY.*HOPX_API_KEY/);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test.each<[string, SandboxClientOptions, string]>([
    ["an address without a scheme", { baseUrl: "api.hopx.dev" }, "BASE_URL_INVALID"],
    ["an address of another kind", { baseUrl: "ftp://api.hopx.dev" }, "BASE_URL_INVALID"],
    ["an address with credentials", { baseUrl: "https://user:secret-word@api.hopx.dev" }, "BASE_URL_INVALID"],
    ["a key of two lines", { apiKey: "secret-one\nsecret-two" }, "CREDENTIAL_INVALID"],
    ["a key with an umlaut", { apiKey: "secret-schlüssel" }, "CREDENTIAL_INVALID"],
    ["no time at all", { timeouts: { requestSeconds: 0 } }, "INVALID_ARGUMENT"],
    ["an execution beyond its longest", { timeouts: { executionSeconds: 500 } }, "INVALID_ARGUMENT"],
    ["an execution of half a second", { timeouts: { executionSeconds: 0.5 } }, "INVALID_ARGUMENT"],
    ["a life beyond its longest", { timeouts: { lifetimeSeconds: 86_401 } }, "INVALID_ARGUMENT"],
    ["a time that is no number", { timeouts: { idleSeconds: Number.NaN } }, "INVALID_ARGUMENT"],
    ["no tries", { retry: { attempts: 0 } }, "INVALID_ARGUMENT"],
    ["a wait that is negative", { retry: { maxDelaySeconds: -1 } }, "INVALID_ARGUMENT"],
    [
      "two sources of traces",
      { traceContext: () => undefined, tracing: openTelemetry() },
      "INVALID_ARGUMENT",
    ],
  ])("refuses %s, without repeating any secret", (_, options, code) => {
    const thrown = failure({ apiKey: "key", ...options });
    expect(thrown).toMatchObject({ code });
    expect(String(thrown)).not.toContain("secret-");
  });

  test.each<[string, SandboxClientOptions]>([
    [
      "The base URL must not contain a user name or password.",
      { baseUrl: "https://user:password@api.hopx.dev" },
    ],
    ["The base URL is not an http(s) address.", { baseUrl: "api.hopx.dev" }],
    [
      "timeouts.executionSeconds must be a whole number of seconds from 1 to 300",
      { timeouts: { executionSeconds: 301 } },
    ],
  ])("says what is wrong: %s", (summary, options) => {
    expect(String(failure({ apiKey: "key", ...options }))).toContain(summary);
  });

  test("calls the cloud unless told otherwise", async () => {
    const urls: string[] = [];
    const client = new SandboxClient({
      apiKey: "key",
      fetch: async (request) => {
        urls.push(request.url);
        return Response.json({ status: "ok" });
      },
    });
    expect(await client.health()).toMatchObject({ healthy: true });
    expect(urls).toEqual(["https://api.hopx.dev/health"]);
  });

  test("that is closed says so, however often it was", async () => {
    const server = await scriptedServer((_, response) => json(response, 200, { status: "healthy" }));
    for (const options of [{}, { fetch: (request: Request) => globalThis.fetch(request) }]) {
      const client = new SandboxClient({ apiKey: "key", baseUrl: server.url, ...options });
      await client.health();
      await Promise.all([client.close(), client.close()]);
      await expect(client.health()).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
    }
  });
});

type Makeable = {
  [Name in keyof typeof library]: (typeof library)[Name] extends new (
    ...args: never[]
  ) => unknown
    ? Name
    : never;
}[keyof typeof library];

test("classes whose objects only the client makes have no constructor that others can call", () => {
  // The compiler checks this list against the classes that the library exports: it refuses a missing name and one too
  // many.
  const makeable: Record<Exclude<Makeable, `${string}Error`>, true> = { SandboxClient: true };
  for (const name of Object.keys(makeable)) expect(library).toHaveProperty(name);
});

test("the exported version is that of package.json", async () => {
  const manifest = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  expect(version).toBe(manifest.version);
});
