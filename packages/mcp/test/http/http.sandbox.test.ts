import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createConnection } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  exchange,
  type HttpServer,
  initialize,
  posted,
  startHttpServer,
  statelessRequest,
  withoutBackend,
} from "../support/http-server.js";

const token = "one-token-of-this-test";
const otherToken = "another-token-of-this-test";

describe("on loopback", () => {
  let server: HttpServer;
  beforeAll(async () => {
    server = await startHttpServer(["--no-token"]);
  });
  afterAll(() => server.stop());

  it("the server serves clients with sessions", async () => {
    const mcp = await server.connect();
    expect(mcp.transport.sessionId).toMatch(/^[0-9a-f-]{36}$/);
    const steps: string[] = [];
    const run = await mcp.result(
      "execute_code_isolated",
      { code: "print(6 * 7)" },
      { onprogress: ({ message }) => steps.push(String(message)) },
    );
    expect(run).toMatchObject({ stdout: "42\n" });
    expect(steps).toContain("Running the code");
    await mcp.client.close();
  });

  it("the server serves clients without sessions, with progress as events", async () => {
    const listed = await exchange(server.url, statelessRequest("tools/list"));
    expect(JSON.parse(listed.body).result).toMatchObject({ ttlMs: 3_600_000, cacheScope: "public" });
    const call = { name: "execute_code_isolated", arguments: { code: "print(6 * 7)" } };
    const ran = await exchange(server.url, statelessRequest("tools/call", call));
    expect(JSON.parse(ran.body).result.structuredContent).toMatchObject({ stdout: "42\n" });
  });

  it.each([
    ["a Host that is not its own", { host: "rebound.example" }, 403, /--allowed-host/],
    ["a Host that begins as its own", { host: "127.0.0.1.example:80" }, 403, /--allowed-host/],
    ["a Host with a user's name", { host: "rebound.example@localhost" }, 403, /--allowed-host/],
    ["a Host with a path", { host: "localhost/rebound.example" }, 403, /--allowed-host/],
    ["a page's Origin", { origin: "https://page.example" }, 403, /--allowed-origin/],
    ["an Origin that is none", { origin: "null" }, 403, /--allowed-origin/],
  ])("the server refuses %s", async (_, headers, status, message) => {
    const answer = await exchange(server.url, posted(initialize, headers));
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({
      jsonrpc: "2.0",
      error: { message: expect.stringMatching(message) },
    });
  });

  it.each([{ host: "localhost:8000" }, { host: "[::1]:8000" }, { origin: "http://localhost:3000" }])(
    "the server is reached by the names of this machine: %o",
    async (headers: Record<string, string>) => {
      expect((await exchange(server.url, posted(initialize, headers))).status).toBe(200);
    },
  );

  it.each([
    ["a body that is not JSON", { ...posted({}), body: "{" }, 400, /-32700.*not JSON/],
    ["an empty body", { ...posted({}), body: "" }, 400, /-32700.*not JSON/],
    ["a body that is no message", { ...posted({}), body: "5" }, 400, /-32600.*must be an object/],
    [
      "a request that is none",
      { ...posted({}), body: '{"id":7,"method":"ping"}' },
      400,
      /"id":7.*-32600.*jsonrpc must be/,
    ],
    ["a request before initialize", posted({ id: 1, method: "tools/list" }), 400, /begins with initialize/],
    [
      "a session that is not there",
      posted({ id: 1, method: "tools/list" }, { "mcp-session-id": "no-such-session" }),
      404,
      /begin another with initialize/,
    ],
    [
      "a body of another type",
      posted(initialize, { "content-type": "text/plain" }),
      415,
      /application\/json/,
    ],
    [
      "a body of 30 MB",
      posted({ ...initialize, method: "x".repeat(30_000_000) }),
      413,
      /at most 24 MiB; send less/,
    ],
    ["a method that does not belong here", { ...posted({}), method: "PUT" }, 405, /./],
  ])("the server refuses %s, and goes on", async (_, request, status, message) => {
    const answer = await exchange(server.url, request);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatch(message);
    expect((await exchange(server.url, posted(initialize))).status).toBe(200);
  });

  it("the server is at /mcp/, too", async () => {
    expect((await exchange(`${server.url}/`, posted(initialize))).status).toBe(200);
  });

  it.each(["tools/list", "prompts/list", "resources/templates/list", "resources/list"])(
    "the server refuses a cursor of %s that it did not issue",
    async (method) => {
      const begun = await exchange(server.url, posted(initialize));
      const session = { "mcp-session-id": String(begun.headers["mcp-session-id"]) };
      const asked = { id: 2, method, params: { cursor: "never-issued" } };
      expect((await exchange(server.url, posted(asked, session))).body).toMatch(/"code":-32602/);
      const stateless = await exchange(server.url, statelessRequest(method, { cursor: "never-issued" }));
      expect(JSON.parse(stateless.body)).toMatchObject({ id: 1, error: { code: -32_602 } });
      const first = await exchange(server.url, posted({ ...asked, params: { cursor: null } }, session));
      expect(first.body).toMatch(/^event: message\ndata: \{"result"/);
    },
  );

  it("a session's stream of events can be opened again at once, and then gets the events", async () => {
    const begun = await exchange(server.url, posted(initialize));
    const session = { "mcp-session-id": String(begun.headers["mcp-session-id"]) };
    await exchange(server.url, posted({ method: "notifications/initialized" }, session));
    const open = async () => {
      const headers = { accept: "text/event-stream", ...session };
      const sent = request(server.url, { headers }).on("error", () => undefined);
      sent.end();
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      return { response: response.on("error", () => undefined), close: () => sent.destroy() };
    };
    // The first event, a comment that keeps the connection, comes after 15 s.
    const openedBefore = performance.now() + 10_000;
    const first = await open();
    first.close();
    const second = await open();
    // The network of this one was lost: its connection stays.
    const third = await open();
    expect([first, second, third].map(({ response }) => response.statusCode)).toEqual([200, 200, 200]);
    expect(performance.now()).toBeLessThan(openedBefore);
    let events = "";
    third.response.setEncoding("utf8").on("data", (text: string) => {
      events += text;
    });
    const create = { id: 2, method: "tools/call", params: { name: "create_sandbox", arguments: {} } };
    await exchange(server.url, posted(create, session));
    await expect.poll(() => events).toContain("notifications/resources/list_changed");
    third.close();
  });

  it("the server refuses a body of 30 MB without a Content-Length", async () => {
    const { headers, body } = posted({ ...initialize, method: "x".repeat(30_000_000) });
    const answer = await exchange(server.url, {
      headers: { ...headers, "transfer-encoding": "chunked" },
      body,
    });
    expect(answer.status).toBe(413);
  });

  it("a body without a Content-Length counts with its real size once it has arrived", async () => {
    const { headers, body } = statelessRequest("subscriptions/listen", {
      notifications: { resourcesListChanged: true },
    });
    const listening = Array.from({ length: 8 }, async () => {
      const stream = request(server.url, { method: "POST", headers });
      // Write the body in two parts, so that Node.js sends it in chunks, without a Content-Length.
      stream.on("error", () => undefined).write(body.slice(0, 20));
      stream.end(body.slice(20));
      const [response] = (await once(stream, "response")) as [IncomingMessage];
      expect(response.statusCode).toBe(200);
      return stream;
    });
    const streams = await Promise.all(listening);
    expect((await exchange(server.url, statelessRequest("tools/list"))).status).toBe(200);
    for (const stream of streams) stream.destroy();
  });

  it("the server answers several clients that make hundreds of calls at once", async () => {
    const clients = await Promise.all([1, 2, 3, 4].map(() => server.connect()));
    const calls = clients.flatMap((mcp) => Array.from({ length: 100 }, () => mcp.result("health")));
    for (const { status } of await Promise.all(calls)) expect(status).toMatch(/^(ok|healthy)$/);
    for (const mcp of clients) await mcp.client.close();
  });

  it("the server goes on when a client disconnects in the middle", async () => {
    const call = {
      name: "execute_code_isolated",
      arguments: { language: "bash", code: "sleep 4714", timeout: 60 },
    };
    const { headers, body } = statelessRequest("tools/call", call);
    const leaving = new AbortController();
    const answer = fetch(server.url, { method: "POST", headers, body, signal: leaving.signal });
    answer.catch(() => undefined);
    const staying = await server.connect();
    const sandboxes = async () => (await staying.result("list_sandboxes")).count;
    await expect.poll(sandboxes).toBe(1);
    leaving.abort();
    await expect.poll(sandboxes).toBe(0);
    await staying.client.close();
  });

  it("the server answers health checks without a token", async () => {
    const asked = await exchange(new URL("/healthz", server.url).href, {
      method: "GET",
      headers: { host: "probe" },
    });
    expect(asked).toMatchObject({ status: 200, body: '{"status":"ok"}' });
  });

  it("the server ends a client's calls and deletes its sandboxes when the client leaves", async () => {
    const [leaving, staying] = [await server.connect(), await server.connect()];
    const { id } = await leaving.result("create_sandbox");
    await leaving.transport.terminateSession();
    await leaving.client.close();
    await expect.poll(() => staying.failure("get_sandbox", { id })).toMatch(/not found/);
    await staying.client.close();
  });
});

describe("with tokens", () => {
  let server: HttpServer;
  beforeAll(async () => {
    server = await startHttpServer([], { CLOUD_SANDBOX_MCP_TOKEN: `${token},${otherToken}` });
  });
  afterAll(() => server.stop());

  it.each([
    ["no token", {}],
    ["a wrong token", { authorization: `Bearer ${token}x` }],
    ["a token that is sent otherwise", { authorization: `Basic ${token}` }],
    ["an empty token", { authorization: "Bearer " }],
  ])("refuses %s", async (_, headers: Record<string, string>) => {
    const answer = await exchange(server.url, posted(initialize, headers));
    expect(answer).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
    expect(answer.body).toMatch(/Authorization: Bearer/);
    expect(server.stderr()).not.toContain(token);
  });

  it("the server keeps the sandboxes of clients with sessions apart", async () => {
    const [one, same, other] = [
      await server.connect(token),
      await server.connect(token),
      await server.connect(otherToken),
    ];
    const sandbox = await one.result("create_sandbox");
    const unknown = "nothing-has-this-id";
    const asUnknown = (text: string): string => text.replaceAll(String(sandbox.id), unknown);
    for (const mcp of [same, other]) {
      const failure = await mcp.failure("get_sandbox", { id: sandbox.id });
      expect(failure).toMatch(/not found.*list_sandboxes/);
      expect(asUnknown(failure)).toBe(await mcp.failure("get_sandbox", { id: unknown }));
      const [ofAnother, ofNone] = await Promise.all(
        [sandbox.id, unknown].map(async (id) =>
          mcp.client
            .readResource({ uri: `sandbox://${id}` })
            .catch(({ code, message }) => `${code} ${message}`),
        ),
      );
      expect(asUnknown(String(ofAnother))).toBe(ofNone);
      expect(await mcp.failure("delete_sandbox", { id: sandbox.id })).toMatch(/not found/);
      expect(await mcp.failure("file_list", { sandbox_id: sandbox.id })).toMatch(/not found/);
      expect(await mcp.failure("file_list", { vm_url: sandbox.direct_url })).toMatch(
        /nothing was sent to it/,
      );
      expect((await mcp.result("list_sandboxes")).data).toEqual([]);
    }
    expect(await one.result("file_list", { sandbox_id: sandbox.id })).toMatchObject({ path: "/workspace" });
    for (const mcp of [one, same, other]) await mcp.client.close();
  });

  it("a client's own sandboxes are listed up to a limit, whatever others have created since", async () => {
    const [one, other] = [await server.connect(token), await server.connect(otherToken)];
    const { id } = await one.result("create_sandbox");
    await other.result("create_sandbox");
    const only = { data: [expect.objectContaining({ id })], count: 1, has_more: false };
    expect(await one.result("list_sandboxes", { limit: 1 })).toEqual(only);
    const { id: second } = await one.result("create_sandbox");
    const listed = await one.result("list_sandboxes", { limit: 1 });
    expect(listed).toMatchObject({ data: [{ id: second }], count: 1, has_more: true });
    for (const mcp of [one, other]) {
      await mcp.transport.terminateSession();
      await mcp.client.close();
    }
  });

  it("a session cannot be continued by another client", async () => {
    const mcp = await server.connect(token);
    const listing = { id: 2, method: "tools/list" };
    const session = { "mcp-session-id": String(mcp.transport.sessionId) };
    const as = (tokenDigest: string) => ({ ...session, authorization: `Bearer ${tokenDigest}` });
    expect((await exchange(server.url, posted(listing, as(otherToken)))).status).toBe(404);
    expect((await exchange(server.url, posted(listing, as(token)))).status).toBe(200);
    await mcp.client.close();
  });

  it("the server identifies a client without sessions by its token and its name", async () => {
    const one = clientOf(server, "one", token);
    const created = await one("create_sandbox");
    const { id } = created.structuredContent;
    expect((await one("get_sandbox", { id })).isError).not.toBe(true);
    for (const other of [clientOf(server, "two", token), clientOf(server, "one", otherToken)])
      expect((await other("get_sandbox", { id })).isError).toBe(true);
    expect((await one("delete_sandbox", { id })).structuredContent).toMatchObject({ status: "deleted" });
  });
});

/** A client of the protocol version without sessions. Returns a function that calls a tool. */
function clientOf(server: HttpServer, client: string, tokenDigest?: string) {
  const headers: Record<string, string> =
    tokenDigest === undefined ? {} : { authorization: `Bearer ${tokenDigest}` };
  return async (name: string, given: object = {}) => {
    const request = statelessRequest("tools/call", { name, arguments: given }, { client, headers });
    return JSON.parse((await exchange(server.url, request)).body).result;
  };
}

const own = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4");

describe("off loopback", () => {
  it("the server is reached by the names of this machine", async () => {
    const server = await startHttpServer(["--host", "0.0.0.0"], withoutBackend);
    const host = `${own?.address ?? "localhost"}:${new URL(server.url).port}`;
    const at = `http://127.0.0.1:${new URL(server.url).port}/mcp`;
    const headers = { ...server.authorization, host };
    expect((await exchange(at, posted(initialize, headers))).status).toBe(200);
    await server.stop();
  });

  it("the server also serves the host names and origins that it is given", async () => {
    const allowed = ["--allowed-host", "mcp.example", "--allowed-origin", "app.example"];
    const server = await startHttpServer(["--no-token", ...allowed], withoutBackend);
    const headers = { host: "mcp.example", origin: "https://app.example" };
    expect((await exchange(server.url, posted(initialize, headers))).status).toBe(200);
    await server.stop();
  });
});

describe("silent clients", () => {
  it("are forgotten after the idle timeout, and their sandboxes stay until the deadline", async () => {
    const server = await startHttpServer(["--no-token", "--idle-timeout", "4"]);
    const mcp = await server.connect();
    const { id } = await mcp.result("create_sandbox");
    const session = mcp.transport.sessionId;
    await mcp.client.close();
    await expect.poll(() => statusOfPing(server, session), { interval: 6_000, timeout: 45_000 }).toBe(404);
    const later = await server.connect();
    expect(await later.result("get_sandbox", { id })).toMatchObject({ status: "running" });
    await server.stop();
  });

  it("are remembered for as long as the sandboxes live that only they can call", async () => {
    const server = await startHttpServer(["--no-token", "--profile", "code-executer", "--idle-timeout", "1"]);
    const call = clientOf(server, "one");
    await call("start_code_executer");
    await call("execute_code", { code: "x = 6 * 7" });
    // Open a session later than the calls, and wait until it has ended because it was silent: the client was silent for
    // longer.
    const { headers } = await exchange(server.url, posted(initialize));
    await expect.poll(() => statusOfPing(server, headers["mcp-session-id"]), { interval: 1_500 }).toBe(404);
    expect((await call("execute_code", { code: "x" })).structuredContent).toEqual({ result: "42" });
    await server.stop();
  });

  it("leave their sandboxes only to clients with the same token", async () => {
    const server = await startHttpServer(["--max-clients", "2"], {
      CLOUD_SANDBOX_MCP_TOKEN: `${token},${otherToken}`,
    });
    const created = await clientOf(server, "one", token)("create_sandbox");
    const { id } = created.structuredContent;
    // Make the server forget the first client: it remembers only two.
    for (const name of ["two", "three", "four"]) {
      const other = clientOf(server, name, otherToken);
      expect((await other("list_sandboxes")).structuredContent).toMatchObject({ data: [] });
      for (const tool of ["get_sandbox", "delete_sandbox"])
        expect((await other(tool, { id })).isError).toBe(true);
    }
    const same = await clientOf(server, "five", token)("get_sandbox", { id });
    expect(same.structuredContent).toMatchObject({ id, status: "running" });
    await server.stop();
  });

  it("are removed when there are as many clients as are allowed", async () => {
    const server = await startHttpServer(["--no-token", "--max-clients", "2"], withoutBackend);
    const sessions: string[] = [];
    for (let client = 0; client < 5; client += 1) {
      const { status, headers } = await exchange(server.url, posted(initialize));
      expect(status).toBe(200);
      sessions.push(String(headers["mcp-session-id"]));
    }
    const statuses = await Promise.all(sessions.map((session) => statusOfPing(server, session)));
    expect(statuses).toEqual([404, 404, 404, 200, 200]);
    await server.stop();
  });
});

async function statusOfPing(server: HttpServer, session: unknown) {
  const ping = posted({ id: 9, method: "ping" }, { "mcp-session-id": String(session) });
  return (await exchange(server.url, ping)).status;
}

describe("the server ends within two seconds", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("on %s, with live sockets and running code", async (signal) => {
    const server = await startHttpServer(["--no-token"]);
    const mcp = await server.connect();
    const { id: sandbox_id } = await mcp.result("create_sandbox");
    const sleeping = { sandbox_id, language: "bash", code: "sleep 4713" };
    const running = [
      mcp.failure("execute_code", sleeping),
      mcp.failure("run_command", { sandbox_id, command: "sleep 4714" }),
    ];
    const isolated = clientOf(server, "one")("execute_code_isolated", {
      language: "bash",
      code: "sleep 4715",
    });
    const { port } = new URL(server.url);
    const idle = createConnection(Number(port), "127.0.0.1");
    idle.on("error", () => undefined);
    await expect
      .poll(async () => (await mcp.result("list_processes", { sandbox_id })).processes)
      .toEqual(expect.arrayContaining([expect.objectContaining({ name: "sleep" })]));
    const startedAt = performance.now();
    expect(await server.stop(signal)).toBe(0);
    // Less than the hour that the calls would take. The limit is generous, because the machine may be busy.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    for (const sentence of await Promise.all(running))
      expect(sentence).toMatch(/^The server is shutting down, /);
    expect(await isolated).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/is shutting down/) }],
    });
    await mcp.client.close();
  });

  it("and finishes calls that are nearly done", async () => {
    const server = await startHttpServer(["--no-token"]);
    const mcp = await server.connect();
    const { id: sandbox_id } = await mcp.result("create_sandbox");
    const code = "touch /tmp/begun; sleep 0.2; echo done";
    const nearly = mcp.result("execute_code", { sandbox_id, language: "bash", code });
    const begun = async () => (await mcp.result("file_exists", { sandbox_id, path: "/tmp/begun" })).exists;
    await expect.poll(begun, { interval: 5 }).toBe(true);
    const stopped = server.stop();
    expect(await nearly).toMatchObject({ stdout: "done\n" });
    expect(await stopped).toBe(0);
    await mcp.client.close();
  });
});

it.each([
  ["--port", "70000", /a whole number from 0 to 65535/],
  ["--transport", "sse", /stdio, http/],
  ["--host", "192.0.2.1", /Cannot listen on 192\.0\.2\.1.*--host/],
])("refuses %s %s", async (option, value, message) => {
  await expect(startHttpServer([option, value])).rejects.toThrow(message);
});
