import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  exchange,
  initialize,
  posted,
  startHttpServer as start,
  statelessRequest,
  withoutBackend,
} from "../support/http-server.js";

const token = "one-token-of-this-test";
const startHttpServer = (args: readonly string[] = [], environment: Record<string, string> = {}) =>
  start(args, { ...withoutBackend, ...environment });

describe.each(["127.0.0.1", "0.0.0.0"])("at %s", (host) => {
  it("the server makes a token if none is set, prints it once, and requires it", async () => {
    const server = await startHttpServer(["--host", host]);
    const made = [...server.stderr().matchAll(/^cloud-sandbox-mcp: Authorization: (Bearer \S{48})$/gm)];
    expect(made).toHaveLength(1);
    const { port } = new URL(server.url);
    const at = `http://127.0.0.1:${port}/mcp`;
    expect((await exchange(at, posted(initialize))).status).toBe(401);
    expect((await exchange(at, statelessRequest("tools/list"))).status).toBe(401);
    const authorization = String(made[0]?.[1]);
    expect((await exchange(at, posted(initialize, { authorization }))).status).toBe(200);
    expect((await exchange(at, posted(initialize, { authorization, host: "rebound.example" }))).status).toBe(
      403,
    );
    const call = statelessRequest("tools/list", {}, { headers: { authorization } });
    expect((await exchange(at, call)).status).toBe(200);
    expect(server.stderr().split(authorization)).toHaveLength(2);
    await server.stop();
  });
});

it("the server uses the tokens of --token, and makes none then", async () => {
  const server = await startHttpServer(["--token", token]);
  expect(server.authorization).toEqual({});
  expect((await exchange(server.url, posted(initialize))).status).toBe(401);
  const authorization = `Bearer ${token}`;
  expect((await exchange(server.url, posted(initialize, { authorization }))).status).toBe(200);
  await server.stop();
});

it.each([
  ["1", 200],
  ["false", 401],
  ["", 401],
])("CLOUD_SANDBOX_MCP_NO_TOKEN=%s is read as yes or no", async (value, status) => {
  const server = await startHttpServer([], { CLOUD_SANDBOX_MCP_NO_TOKEN: value });
  expect((await exchange(server.url, posted(initialize))).status).toBe(status);
  await server.stop();
});

it("the server requires a token where others can reach it, whatever is set", async () => {
  const started = startHttpServer(["--no-token", "--host", "0.0.0.0"]);
  await expect(started).rejects.toThrow(/Other machines can reach 0\.0\.0\.0.*drop --no-token/);
});

describe("on a Unix socket", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "cloud-sandbox-mcp-"));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const status = (socketPath: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { headers, body } = posted(initialize);
      const sent = request({ socketPath, path: "/mcp", method: "POST", headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on("error", reject);
      sent.end(body);
    });

  it("serves its own user without a token, and nobody else", async () => {
    const socket = join(directory, "mcp.sock");
    const server = await startHttpServer(["--socket", socket]);
    expect((await stat(socket)).mode & 0o777).toBe(0o600);
    expect(server.authorization).toEqual({});
    expect(await status(socket)).toBe(200);
    await server.stop();
    await expect(stat(socket)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("replaces a socket that another server has left behind, and no other file", async () => {
    const socket = join(directory, "mcp.sock");
    const killed = await startHttpServer(["--socket", socket]);
    await expect(startHttpServer(["--socket", socket])).rejects.toThrow(/Cannot listen on .*EADDRINUSE/);
    await killed.stop("SIGKILL");
    const server = await startHttpServer(["--socket", socket]);
    expect(await status(socket)).toBe(200);
    await server.stop();
    const file = join(directory, "file");
    await writeFile(file, "precious");
    await expect(startHttpServer(["--socket", file])).rejects.toThrow(/Cannot listen on/);
    expect(await readFile(file, "utf8")).toBe("precious");
  });
});

describe("a web page", () => {
  const asks = (origin: string) => ({
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,mcp-param-region",
    },
  });

  it.each([
    ["http://app.example", 204],
    ["https://app.example:8443", 204],
    ["http://localhost:6274", 204],
    ["https://whole.example", 204],
    ["chrome-extension://abc", 204],
    ["http://whole.example", 403],
    ["http://evil.example", 403],
    ["null", 403],
  ])("of %s may ask, send and read, or none of these: %i", async (origin, status) => {
    const allowed = "APP.example,https://whole.example/,chrome-extension://abc";
    const server = await startHttpServer(["--token", token, "--allowed-origin", allowed]);
    const asked = await exchange(server.url, asks(origin));
    const authorization = `Bearer ${token}`;
    const sent = await exchange(server.url, posted(initialize, { origin, authorization }));
    const refused = await exchange(server.url, posted(initialize, { origin }));
    await server.stop();
    if (status === 403) {
      expect([asked.status, sent.status, refused.status]).toEqual([403, 403, 403]);
      for (const { headers } of [asked, sent, refused])
        expect(headers).not.toHaveProperty("access-control-allow-origin");
      return;
    }
    expect([asked.status, sent.status, refused.status]).toEqual([204, 200, 401]);
    for (const { headers } of [asked, sent, refused])
      expect(headers).toMatchObject({
        "access-control-allow-origin": origin,
        "access-control-expose-headers": expect.stringContaining("Mcp-Session-Id"),
        vary: "Origin",
      });
    expect(asked.headers).toMatchObject({
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": expect.stringMatching(
        /authorization.*mcp-session-id.*mcp-param-region/,
      ),
    });
  });
});

it("a token that is easy to guess is refused", async () => {
  const started = startHttpServer([], { CLOUD_SANDBOX_MCP_TOKEN: "short" });
  await expect(started).rejects.toThrow(/CLOUD_SANDBOX_MCP_TOKEN must be 16 or more/);
});
