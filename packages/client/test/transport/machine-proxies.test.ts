import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { carriers, rejection, testClient } from "../support/clients.js";
import { json, scriptedServer } from "../support/scripted-server.js";

const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];

beforeEach(() => {
  for (const name of names.flatMap((each) => [each, each.toLowerCase()])) vi.stubEnv(name, "");
  return () => void vi.unstubAllEnvs();
});

/** A server that only a proxy knows by its name, and that proxy, which notes what it is asked for. */
async function company(refuse?: { status: number }) {
  const server = await scriptedServer((_, response) => json(response, 200, { id: "abc", status: "running" }));
  const { port } = new URL(server.url);
  const asked: string[] = [];
  const proxy = createServer().listen(0, "127.0.0.1");
  proxy.on("connect", ({ url, headers }, client) => {
    const credentials = headers["proxy-authorization"] ?? "";
    asked.push(`${url} ${Buffer.from(credentials.slice(6), "base64")}`.trim());
    client.on("error", () => client.destroy());
    if (refuse) return client.end(`HTTP/1.1 ${refuse.status} No\r\nContent-Length: 0\r\n\r\n`);
    const upstream = connect(Number(port), "127.0.0.1", () => client.write("HTTP/1.1 200 OK\r\n\r\n"));
    upstream.on("error", () => client.destroy());
    upstream.pipe(client).pipe(upstream);
  });
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return {
    server,
    asked,
    baseUrl: `http://sandboxes.corp.test:${port}`,
    target: `sandboxes.corp.test:${port}`,
    proxy: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  };
}

// A caller's own `fetch` uses the proxies that it wants to use.
describe.each(carriers.filter(([name]) => name !== "fetch"))("over %s", (_, carrier) => {
  test.each([
    ["HTTP_PROXY", (proxy: string) => `http://${proxy}`, ""],
    ["http_proxy", (proxy: string) => `http://${proxy}`, ""],
    ["ALL_PROXY", (proxy: string) => `http://${proxy}`, ""],
    ["HTTP_PROXY", (proxy: string) => proxy, ""],
    ["HTTP_PROXY", (proxy: string) => `http://me:50%off@${proxy}`, " me:50%off"],
    ["HTTP_PROXY", (proxy: string) => `http://me:50%25off@${proxy}`, " me:50%off"],
  ])("the proxy that %s names is used, also with a password (%#)", async (name, written, credentials) => {
    const { server, proxy, baseUrl, target, asked } = await company();
    vi.stubEnv(name, written(proxy));
    expect((await testClient(baseUrl, carrier).sandboxes.get("abc")).id).toBe("abc");
    expect(asked).toEqual([`${target}${credentials}`]);
    expect(server.calls()).toEqual(["GET /v1/sandboxes/abc"]);
  });

  test.each([
    ["on this machine", (url: string) => url, ""],
    ["that NO_PROXY lists", (url: string) => url.replace("127.0.0.1", "127.0.0.2"), "127.0.0.2,.corp.test"],
    ["where NO_PROXY is *", (url: string) => url.replace("127.0.0.1", "127.0.0.2"), "*"],
  ])("servers %s are reached without it", async (_, at, direct) => {
    const { server, proxy, asked } = await company();
    vi.stubEnv("HTTP_PROXY", `http://${proxy}`);
    vi.stubEnv("NO_PROXY", direct);
    const call = testClient(at(server.url), { ...carrier, retry: { attempts: 1 } }).sandboxes.get("abc");
    // Nothing listens on the other loopback address: what counts is that the proxy was not asked.
    await call.catch((error: unknown) => expect(String(error)).toContain("127.0.0.2"));
    expect(asked).toEqual([]);
  });

  test.each([
    ["wants a password", { status: 407 }, "the proxy answered 407"],
    ["refuses", { status: 403 }, "the proxy answered 403"],
  ])("a proxy that %s is named in the error", async (_, refusal, said) => {
    const { proxy, baseUrl } = await company(refusal);
    vi.stubEnv("HTTP_PROXY", `http://me:secret@${proxy}`);
    const error = String(await rejection(testClient(baseUrl, carrier).sandboxes.get("abc")));
    expect(error).toContain(said);
    expect(error).toMatch(/HTTPS_PROXY.*NAME:PASSWORD/);
    expect(error).not.toContain("secret");
  });

  test("a proxy that cannot be reached is named in the error", async () => {
    vi.stubEnv("HTTP_PROXY", "http://127.0.0.1:10");
    const call = testClient("http://sandboxes.corp.test", carrier).sandboxes.get("abc");
    expect(String(await rejection(call))).toMatch(/ECONNREFUSED.*HTTPS_PROXY/);
  });
});
