import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../support/free-port.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

const page = 8000;
let directory: string;
let port: number;
let server: LocalServer;
let client: SandboxClient;
let sandbox: Sandbox;

const start = async (): Promise<void> => {
  const args = ["--port", String(port), "--pool", "0", "--data-dir", directory, "--previews", "private"];
  server = await startLocalServer({ args });
};
const connect = (apiKey: string): SandboxClient => new SandboxClient({ baseUrl: server.url, apiKey });

/** Serves pages on a port of the sandbox, that tell the cookie which came. Answers for /open do not end. */
const serving = `
import http.server, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/open":
            protocol = self.headers.get("upgrade")
            self.send_response(101 if protocol else 200)
            if protocol:
                self.send_header("connection", "upgrade")
                self.send_header("upgrade", protocol)
            self.end_headers()
            self.wfile.write(b"begun")
            time.sleep(600)
        body = f"{self.path} cookie={self.headers.get('cookie')}".encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(("127.0.0.1", ${page}), Handler).serve_forever()`;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "links-"));
  port = await freePort();
  await start();
  client = connect("test-key");
  sandbox = await client.sandboxes.create({ template: "code-interpreter" });
  await sandbox.files.write("/workspace/serve.py", serving);
  await sandbox.commands.runBackground("python3 /workspace/serve.py");
  await sandbox.ports.waitForPort(page);
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Asks the server as a browser would, which finds all names below localhost on this machine. */
async function visit(url: string, headers: Record<string, string> = {}) {
  const { host, pathname, search } = new URL(url);
  const answer = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    request({ port, host: "127.0.0.1", path: pathname + search, headers: { host, ...headers } }, resolve)
      .once("error", reject)
      .end();
  });
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

/** Opens what does not end, with a protocol of its own or not. The promise in the result is fulfilled when the server has cut it. */
async function open(url: string, headers: Record<string, string> = {}): Promise<{ cut: Promise<unknown> }> {
  const { pathname } = new URL(url);
  const call = request({ port, host: "127.0.0.1", path: pathname, headers });
  const begun = Promise.race([
    once(call, "upgrade").then(([, socket]) => socket as Duplex),
    once(call, "response").then(([answer]) => answer as Readable),
  ]);
  call.end();
  const stream = await begun;
  stream.on("error", () => undefined).resume();
  return { cut: new Promise((resolve) => stream.once("close", resolve)) };
}

describe("what is open through a link", () => {
  const socket = { connection: "upgrade", upgrade: "websocket" };
  const openAll = (url: string) => Promise.all([open(`${url}open`), open(`${url}open`, socket)]);

  test("is cut when the link expires", async () => {
    const calls = await openAll(await sandbox.ports.previewUrl(page, { expiresInSeconds: 2, form: "path" }));
    await Promise.all(calls.map(({ cut }) => cut));
  });

  test("is cut when the links of the sandbox are revoked", async () => {
    const file = await sandbox.files.downloadUrl("/workspace/large");
    await sandbox.commands.run("truncate -s 256M /workspace/large");
    const transfer = await fetch(file);
    const calls = await openAll(
      await sandbox.ports.previewUrl(page, { expiresInSeconds: 600, form: "path" }),
    );
    await sandbox.ports.revoke();
    await Promise.all(calls.map(({ cut }) => cut));
    await expect(transfer.arrayBuffer()).rejects.toThrow();
  });

  test("is cut when the API key that made the link is revoked, and what others opened goes on", async () => {
    const { data: key } = await client.controlPlane.POST("/v1/keys", { body: { name: "host" } });
    await using host = connect(key?.key ?? "");
    const theirs = await host.sandboxes.create({ template: "code-interpreter" });
    await theirs.files.write("/workspace/serve.py", serving);
    await theirs.commands.runBackground("python3 /workspace/serve.py");
    await theirs.ports.waitForPort(page);
    const link = { expiresInSeconds: 600, form: "path" } as const;
    const others = await openAll(await sandbox.ports.previewUrl(page, link));
    const calls = await openAll(await theirs.ports.previewUrl(page, link));
    await client.controlPlane.DELETE("/v1/keys/{id}", { params: { path: { id: "host" } } });
    await Promise.all(calls.map(({ cut }) => cut));
    const isCut = Promise.race(others.map(({ cut }) => cut)).then(() => true);
    expect(await Promise.race([isCut, sleep(1500, false)])).toBe(false);
    await sandbox.ports.revoke();
    expect(await isCut).toBe(true);
  });

  test("goes on to its end if it is a file whose link expires", async () => {
    await sandbox.commands.run("truncate -s 256M /workspace/large");
    const file = await sandbox.files.downloadUrl("/workspace/large", { expiresInSeconds: 1 });
    const transfer = await fetch(file);
    await expect.poll(async () => (await fetch(file, { headers: { range: "bytes=0-0" } })).status).toBe(401);
    await sleep(1000);
    expect((await transfer.arrayBuffer()).byteLength).toBe(256 * 1024 * 1024);
  });
});

describe("a port of a sandbox with private previews", () => {
  test("opens by a link, which begins a visit with a cookie for its host alone", async () => {
    const bare = sandbox.ports.previewUrl(page);
    expect(await visit(bare)).toMatchObject({ status: 401 });
    const url = await sandbox.ports.previewUrl(page, { expiresInSeconds: 60 });
    const begun = await visit(`${url}&mine=1`);
    expect(begun).toMatchObject({ status: 303, headers: { location: "/?mine=1" } });
    const [cookie = ""] = begun.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toMatch(/domain/i);
    const [pair = ""] = cookie.split(";");
    const shown = await visit(new URL("/page", bare).href, { cookie: `${pair}; theirs=2` });
    expect(shown).toMatchObject({ status: 200, body: "/page cookie=theirs=2" });
    const elsewhere = await visit(url.replace("/?", "//evil.test/?"));
    expect(elsewhere).toMatchObject({ status: 303, headers: { location: "/evil.test/" } });
    expect(await visit(new URL(bare).origin.concat("//"), { cookie: pair })).toMatchObject({ status: 200 });
    // It is for this port of this sandbox.
    expect(await visit(sandbox.ports.previewUrl(page + 1), { cookie: pair })).toMatchObject({ status: 401 });
    await using other = await client.sandboxes.create({ template: "base" });
    expect(await visit(other.ports.previewUrl(page), { cookie: pair })).toMatchObject({ status: 401 });
    expect(await visit(bare, { cookie: `${pair}x` })).toMatchObject({ status: 401 });
  });

  test("opens by path with the link in the path", async () => {
    expect(await visit(sandbox.ports.previewUrl(page, { form: "path" }))).toMatchObject({ status: 401 });
    const url = await sandbox.ports.previewUrl(page, { expiresInSeconds: 60, form: "path" });
    const shown = await visit(`${url}a/b?c`);
    expect(shown).toMatchObject({
      status: 200,
      body: "/a/b?c cookie=None",
      headers: { "referrer-policy": "no-referrer" },
    });
  });

  test("is closed when the link expires, is revoked, or its key is, also after a restart", async () => {
    const short = await sandbox.ports.previewUrl(page, { expiresInSeconds: 1, form: "path" });
    const long = await sandbox.ports.previewUrl(page, { expiresInSeconds: 600, form: "path" });
    await expect.poll(async () => (await visit(short)).status).toBe(401);
    expect(await visit(long)).toMatchObject({ status: 200 });
    await sandbox.ports.revoke();
    expect(await visit(long)).toMatchObject({ status: 401 });
    const later = await sandbox.ports.previewUrl(page, { expiresInSeconds: 600, form: "path" });
    expect(await visit(later)).toMatchObject({ status: 200 });

    const { data: key } = await client.controlPlane.POST("/v1/keys", { body: { name: "guest" } });
    await using guest = connect(key?.key ?? "");
    const theirs = await guest.sandboxes.create({ template: "base" });
    await theirs.files.write("/workspace/note", "theirs");
    const link = await theirs.files.downloadUrl("/workspace/note");
    expect(await visit(link)).toMatchObject({ status: 200, body: "theirs" });
    await client.controlPlane.DELETE("/v1/keys/{id}", { params: { path: { id: "guest" } } });
    expect(await visit(link)).toMatchObject({ status: 401 });

    await server.stop("SIGKILL");
    await start();
    expect(await visit(long)).toMatchObject({ status: 401 });
    expect(await visit(link)).toMatchObject({ status: 401 });
    await client.sandboxes.delete(sandbox.id);
    expect(await visit(later)).toMatchObject({ status: 404 });
  });
});

describe("a file of a sandbox", () => {
  test("is read and written by links, by whoever has them, and by nothing else", async () => {
    await using made = await client.sandboxes.create({ template: "base" });
    const upload = await made.files.uploadUrl("/workspace/in/a b.html");
    const bytes = new Uint8Array(3_000_000).fill(7);
    const sent = await fetch(upload, { method: "PUT", body: bytes });
    expect({ status: sent.status, text: await sent.text() }).toMatchObject({ status: 200 });
    const download = await made.files.downloadUrl("/workspace/in/a b.html", { expiresInSeconds: 60 });
    const answer = await fetch(download);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    // It may be a stranger's page, on the server's own origin.
    expect(answer.headers.get("content-security-policy")).toBe("sandbox");
    expect(answer.headers.get("content-disposition")).toMatch(/^attachment/);
    const part = await fetch(download, { headers: { range: "bytes=0-9" } });
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 10]);
    // As "curl --head", and browsers before they continue a download.
    const head = await fetch(download, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "3000000"]);
    for (const [link, method] of [
      [download, "PUT"],
      [upload, "GET"],
      [download, "DELETE"],
    ] as const)
      expect((await fetch(link, { method })).status).toBe(405);
    expect((await fetch(download.slice(0, -2))).status).toBe(401);
    const outside = await made.files.downloadUrl("/etc/passwd");
    expect((await fetch(outside)).status).toBe(403);
    await made.ports.revoke();
    expect((await fetch(download)).status).toBe(401);
  });
});

test("a server with public previews says so, and makes no links to ports", async () => {
  const open = await startLocalServer({ args: ["--pool", "0"] });
  try {
    await using own = new SandboxClient({ baseUrl: open.url, apiKey: open.apiKey });
    const made = await own.sandboxes.create({ template: "base" });
    const init = { params: { path: { id: made.id } } };
    const { data } = await own.controlPlane.GET("/v1/sandboxes/{id}", init);
    expect(data?.preview_access).toBe("public");
    await expect(made.ports.previewUrl(page, { expiresInSeconds: 60 })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("public"),
    });
  } finally {
    await open.stop();
  }
});
