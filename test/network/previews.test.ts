import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions, request } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { previewedServer } from "../support/previewed-server.js";

const port = 3000;
const mebibyte = 1024 * 1024;

let server: LocalServer;
let client: SandboxClient;
let sandbox: Sandbox;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  sandbox = await client.sandboxes.create({ template: "code-interpreter" });
  await sandbox.files.write("/workspace/server.mjs", previewedServer);
  await sandbox.files.write("/workspace/site/index.html", "<h1>from python</h1>");
  await sandbox.execute(
    `nohup node server.mjs ${port} >node.log 2>&1 &
     nohup python3 -m http.server --directory site --bind 0.0.0.0 8000 >python.log 2>&1 &`,
    { language: "bash" },
  );
  for (const at of [port, 8000]) {
    await vi.waitUntil(async () => (await byPath("/", { at })).statusCode === 200, { timeout: 60_000 });
  }
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

describe.each([
  ["by host", (path: string, options?: Ask) => byHost(path, options)],
  ["by path", (path: string, options?: Ask) => byPath(path, options)],
])("a preview %s", (form, ask) => {
  test("shows what a server in the sandbox answers", async () => {
    expect(await text(await ask("/", { at: 8000 }))).toBe("<h1>from python</h1>");
    expect((await ask("/none", { at: 8000 })).statusCode).toBe(404);
  });

  test("passes on the request without credentials of the account or the agent", async () => {
    const headers = { "x-api-key": server.apiKey, "x-api-secret": server.apiKey, "x-of-theirs": "1" };
    for (const [authorization, passed] of [
      // A page of another sandbox could ask for one, because all have the same origin.
      ["Basic dXNlcjpwYXNz", form === "by host"],
      ["Bearer of.the.app", true],
      [`Bearer ${server.apiKey}`, false],
      [`Bearer ${await agentToken()}`, false],
    ] as const) {
      const answer = await ask("/echo?q=1", { method: "PUT", headers: { ...headers, authorization } });
      const seen = JSON.parse(await text(answer)) as Seen;
      expect(seen).toMatchObject({ method: "PUT", url: "/echo?q=1", headers: { "x-of-theirs": "1" } });
      expect(seen.headers.authorization).toBe(passed ? authorization : undefined);
      expect(JSON.stringify(seen)).not.toContain(server.apiKey);
      expect(seen.headers).toMatchObject({
        "x-forwarded-proto": "http",
        "x-forwarded-host": seen.headers.host,
      });
      expect(seen.headers["x-forwarded-prefix"]).toBe(
        form === "by path" ? `/preview/${sandbox.id}/${port}` : undefined,
      );
    }
  });

  test("sets cookies only if the preview has a host of its own", async () => {
    const answer = await ask("/cookie", { headers: { cookie: "theirs=1" } });
    const own = form === "by host";
    expect(answer.headers["set-cookie"]).toEqual(own ? ["a=1; Path=/", "b=2"] : undefined);
    expect(await text(answer)).toBe(own ? "theirs=1" : "");
  });

  test("carries a WebSocket", async () => {
    const socket = await openWebSocket(form === "by host" ? hostOptions("/socket") : pathOptions("/socket"));
    socket.write("over there");
    expect(String((await once(socket, "data"))[0])).toBe("/socket: over there");
    socket.end();
    await once(socket.resume(), "close");
  });

  test("streams an answer that comes bit by bit", async () => {
    const events = await ask("/events");
    // Read with an iterator, which buffers: an event that arrives while no listener waits would be lost.
    const pieces = events[Symbol.asyncIterator]();
    for (const number of [1, 2, 3]) {
      expect(String((await pieces.next()).value)).toBe(`data: ${number}\n\n`);
      // The server sends the next event only after this request.
      await text(await ask("/next", { method: "POST" }));
    }
    events.destroy();
  });

  test("passes large bodies on in constant memory", async () => {
    const size = 128 * mebibyte;
    const before = peakMemory();
    const sent = await ask("/sink", { method: "POST", body: Readable.from(chunks(size)) });
    expect(await text(sent)).toBe(String(size));
    const received = await ask(`/source?size=${size}`);
    let length = 0;
    await pipeline(received, async (chunks) => {
      for await (const chunk of chunks as AsyncIterable<Buffer>) length += chunk.length;
    });
    expect(length).toBe(size);
    expect(peakMemory() - before).toBeLessThan(96 * mebibyte);
  });

  test.each([
    ["text/html,*/*;q=0.8", /^text\/html/, /^<!doctype html>[\s\S]*Nothing listens on port 4444/],
    ["*/*", /^application\/json/, /"code":"PORT_NOT_LISTENING"/],
  ])("where nothing listens says so to whoever accepts %s", async (accept, type, body) => {
    const answer = await ask("/", { at: 4444, headers: { accept } });
    expect(answer.statusCode).toBe(404);
    expect(answer.headers["content-type"]).toMatch(type);
    expect(await text(answer)).toMatch(body);
  });

  test.each([
    ["a server that does not speak HTTP", port + 1, 409, "PORT_UNREADABLE"],
    ["a server that hangs up", port + 2, 409, "PORT_UNREADABLE"],
    ["the agent's egress", 3128, 403, "PORT_NOT_ALLOWED"],
    ["a port that there is not", 65536, 404, "needs a port"],
  ])("of %s is refused", async (_, at, status, said) => {
    const answer = await ask("/", { at });
    expect(answer.statusCode).toBe(status);
    expect(await text(answer)).toContain(said);
  });

  test("of a sandbox that is paused or unknown is refused", async () => {
    const other = await client.sandboxes.create({ template: "base" });
    await other.pause();
    const paused = await ask("/", { id: other.id });
    expect([paused.statusCode, await text(paused)]).toEqual([409, expect.stringContaining("SANDBOX_PAUSED")]);
    await other.delete();
    const gone = await ask("/", { id: other.id });
    expect([gone.statusCode, await text(gone)]).toEqual([404, expect.stringContaining("SANDBOX_NOT_FOUND")]);
  });
});

describe("a preview by path", () => {
  const prefix = () => `/preview/${sandbox.id}/${port}`;

  test.each([
    ["/login?x=1#y", (path: string) => prefix() + path],
    ["next", (path: string) => path],
    ["http://localhost:3000/login", () => `${prefix()}/login`],
    ["//127.0.0.1:3000", () => `${prefix()}/`],
    ["https://example.com/login", (path: string) => path],
  ])("leads a redirect to %s to where it is meant", async (to, expected) => {
    const answer = await byPath(`/redirect?to=${encodeURIComponent(to)}`);
    expect(answer.headers.location).toBe(expected(to));
  });

  test("keeps a redirect of a server that knows its prefix", async () => {
    const answer = await byPath(`/redirect?to=${prefix()}/login`);
    expect(answer.headers.location).toBe(`${prefix()}/login`);
  });

  test("redirects a path without its last slash", async () => {
    const answer = await ask({ ...pathOptions(""), path: `${prefix()}?q` });
    expect([answer.statusCode, answer.headers.location]).toEqual([308, `${prefix()}/?q`]);
  });
});

test("a preview by host shows the page that a target with scheme and host names", async () => {
  const { host } = new URL(server.url);
  expect((await byHost(`http://${host}/none`, { at: 8000 })).statusCode).toBe(404);
  const seen = JSON.parse(await text(await byHost(`http://${host}/echo?q=1`))) as Seen;
  expect(seen.url).toBe("/echo?q=1");
});

test("the record of a sandbox contains the URLs of its previews", async () => {
  const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}", {
    params: { path: { id: sandbox.id } },
  });
  const at = new URL(server.url).port;
  expect(data).toMatchObject({
    preview_url: `http://${sandbox.id}.localhost:${at}/`,
    preview_url_template: `http://{port}-${sandbox.id}.localhost:${at}/`,
    preview_path_template: `${server.url}/preview/${sandbox.id}/{port}/`,
  });
  const noPort = await ask({ ...hostOptions("/"), headers: { host: `${sandbox.id}.localhost:${at}` } });
  expect(await text(noPort)).toContain("needs a port");
});

interface Ask {
  readonly at?: number;
  readonly id?: string;
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Readable;
}

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const byHost = (path: string, options: Ask = {}) => ask(hostOptions(path, options), options.body);
const byPath = (path: string, options: Ask = {}) => ask(pathOptions(path, options), options.body);

function hostOptions(
  path: string,
  { at = port, id = sandbox.id, headers, ...rest }: Ask = {},
): RequestOptions {
  const url = new URL(server.url);
  const host = `${at}-${id}.localhost:${url.port}`;
  return { host: url.hostname, port: url.port, path, headers: { ...headers, host }, ...rest };
}

function pathOptions(
  path: string,
  { at = port, id = sandbox.id, headers, ...rest }: Ask = {},
): RequestOptions {
  const url = new URL(server.url);
  return {
    host: url.hostname,
    port: url.port,
    path: `/preview/${id}/${at}${path}`,
    ...rest,
    headers: { ...headers },
  };
}

function ask(options: RequestOptions, body?: Readable): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const call = request(options, resolve).on("error", reject);
    if (body) body.pipe(call);
    else call.end();
  });
}

function openWebSocket(options: RequestOptions) {
  return new Promise<import("node:stream").Duplex>((resolve, reject) => {
    const headers = { ...options.headers, connection: "Upgrade", upgrade: "websocket" };
    request({ ...options, headers })
      .on("upgrade", (_, socket) => resolve(socket))
      .on("response", (answer) => reject(new Error(`answered ${answer.statusCode}`)))
      .on("error", reject)
      .end();
  });
}

async function agentToken(): Promise<string> {
  const { data } = await client.controlPlane.POST("/v1/sandboxes/{id}/token/refresh", {
    params: { path: { id: sandbox.id } },
  });
  return data?.auth_token ?? "";
}

function* chunks(size: number): Generator<Buffer> {
  const chunk = Buffer.alloc(mebibyte);
  for (let sent = 0; sent < size; sent += chunk.length) yield chunk;
}

/** The largest resident memory of the server's process so far, in bytes. */
function peakMemory(): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) * 1024;
}
