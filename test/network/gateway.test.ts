import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let server: LocalServer;
let client: SandboxClient;
let host: URL;
let token: string;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  const response = await fetch(`${server.url}/v1/sandboxes`, {
    method: "POST",
    headers: { "X-API-Key": server.apiKey },
    body: JSON.stringify({ template_name: "base" }),
  });
  const sandbox = (await response.json()) as { public_host: string; auth_token: string };
  host = new URL(sandbox.public_host);
  token = sandbox.auth_token;
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

// The gateway shares its connections to the agent among callers. A body that it leaves unread in one would be taken for
// the next caller's request.
test.each([
  ["GET", "Transfer-Encoding: chunked"],
  ["DELETE", "Transfer-Encoding: chunked"],
  ["OPTIONS", "Transfer-Encoding: chunked"],
  ["GET", "Connection: content-length"],
  ["DELETE", "Connection: content-length"],
])("a body on %s with %s is not read as a request", async (method, header) => {
  const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
  const size = Buffer.byteLength(smuggled);
  const body = header.startsWith("Transfer") ? `${size.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n` : smuggled;
  const length = header.startsWith("Transfer") ? "" : `Content-Length: ${size}\r\n`;
  const attack = (): Promise<string> => {
    const socket = connect(Number(host.port), host.hostname);
    socket.end(
      `${method} ${host.pathname}/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${header}\r\n${length}\r\n${body}`,
    );
    return text(socket);
  };
  const ask = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request(`${host}/env`, { headers: { authorization: `Bearer ${token}` } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on("error", reject)
        .end();
    });
  for (let round = 0; round < 40; round += 1) {
    const [, ...statuses] = await Promise.all([attack(), ask(), ask(), ask()]);
    expect(statuses).toEqual([200, 200, 200]);
  }
});

test("the account's key and another sandbox's token do not reach the agent", async () => {
  const { stdout } = await client.executeIsolated("print(1)");
  expect(stdout).toBe("1\n");
  for (const credentials of [`Bearer ${server.apiKey}`, "Bearer a.b.c", "Basic eDp5"]) {
    const answer = await fetch(`${host}/env`, {
      headers: { authorization: credentials, "x-api-key": server.apiKey },
    });
    expect(answer.status).toBe(401);
    expect(await answer.text()).not.toContain("INVALID_TOKEN");
  }
});

test("the target of a request may contain scheme and host, as clients of proxies send it", async () => {
  const ask = (path: string, headers = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      request({ host: host.hostname, port: host.port, path, headers }, (answer) => resolve(text(answer)))
        .on("error", reject)
        .end();
    });
  const authorization = `Bearer ${token}`;
  expect(await ask(`${host}/env`, { authorization })).toContain('"env_vars":{"');
  expect(await ask(`${server.url}/env`, { authorization })).toContain('"env_vars":{"');
  expect(await ask(`${server.url}?x=/env`, { authorization })).toContain('"agent":"cloud-sandbox-agent"');
  expect(await ask(`${server.url}/health`, { authorization })).toContain('"runtime"');
});

test("an agent is found at the root by its token, beside the control plane's own paths", async () => {
  const headers = { authorization: `Bearer ${token}` };
  const ask = async (path: string): Promise<string> => (await fetch(server.url + path, { headers })).text();
  expect(await ask("/env")).toContain('"env_vars":{"');
  expect(await ask("/health")).toContain('"runtime"');
  expect(await ask("/v1/sandboxes")).toContain("INVALID_API_KEY");
});

test("requests for an allowed host name are answered, for others refused", async () => {
  const named = await startLocalServer({ args: ["--pool", "0", "--allowed-host", "box.example"] });
  const ask = (name: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request(`${named.url}/health`, { headers: { host: name } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on("error", reject)
        .end();
    });
  expect([await ask("box.example:80"), await ask("rebound.example")]).toEqual([200, 403]);
  await named.stop();
});

test("pages of an allowed origin may call the gateway, and an invalid origin is refused", async () => {
  const origin = "https://app.example";
  const open = await startLocalServer({ args: ["--pool", "0", "--cors-origin", origin] });
  const headers = { "X-API-Key": open.apiKey, Origin: origin };
  const answer = await fetch(`${open.url}/v1/sandboxes`, { headers });
  expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
  const exposed = answer.headers.get("access-control-expose-headers")?.toLowerCase().split(", ") ?? [];
  const ofOurs = [...answer.headers.keys()].filter((name) => name.startsWith("x-"));
  expect(ofOurs).toContain("x-request-id");
  expect(exposed).toEqual(expect.arrayContaining(ofOurs));
  await open.stop();
  const refused = startLocalServer({ args: ["--cors-origin", "*"] });
  await expect(refused).rejects.toThrow(/The origin "\*" cannot be allowed\. Write it as browsers send it/);
});

test("a thousand slow connections harm nobody else", async () => {
  const body = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n";
  const forged = token.replace(/\.[^.]*$/, ".forged");
  const beginnings = [
    "",
    `GET /health HTTP/1.1\r\nX-Long: ${"x".repeat(8000)}`,
    `POST /v1/sandboxes HTTP/1.1\r\n${body}\r\n{`,
    `POST /v1/sandboxes HTTP/1.1\r\n${body}X-API-Key: ${server.apiKey}\r\n\r\n{`,
    `POST ${host.pathname}/execute HTTP/1.1\r\n${body}Authorization: Bearer ${forged}\r\n\r\n{`,
  ];
  const before = residentMb();
  const slow = await Promise.all(
    Array.from({ length: 1000 }, async (_, index) => {
      const socket = connect(Number(host.port), host.hostname).on("error", () => undefined);
      await once(socket, "connect");
      socket.write(beginnings[index % beginnings.length] ?? "");
      return socket;
    }),
  );
  try {
    const started = performance.now();
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    expect((await fetch(`${host}/env`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    expect((await client.executeIsolated("print(1)")).stdout).toBe("1\n");
    expect(performance.now() - started).toBeLessThan(13_000);
    expect(residentMb() - before).toBeLessThan(128);
  } finally {
    for (const socket of slow) socket.destroy();
  }
});

function residentMb(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}
