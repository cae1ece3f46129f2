import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { type AddressInfo, getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Callback } from "../../src/webhooks/callback.js";
import { PrivateAddressError, sendCallback } from "../../src/webhooks/callback-request.js";

// Treat loopback addresses as public, because the tests may connect to no others.
vi.mock("../../src/addresses/public-address.js", () => ({
  isPublicAddress: (address: string) => address.startsWith("127."),
}));

type Options = Parameters<typeof sendCallback>[2];

async function receiver(behave: RequestListener = (_, response) => response.end()) {
  const requests: (IncomingMessage & { text?: string })[] = [];
  const server = createServer(async (request, response) => {
    const kept: IncomingMessage & { text?: string } = request;
    requests.push(kept);
    kept.text = "";
    for await (const chunk of request) kept.text += String(chunk);
    behave(request, response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { requests, port: (server.address() as AddressInfo).port };
}

const report = { id: "d1", body: '{"text":"é😀"}' };

const send = (url: string, callback: Partial<Callback> = {}, options: Partial<Options> = {}) =>
  sendCallback({ url, headers: {}, secret: undefined, ...callback }, report, {
    timeoutMs: 5000,
    allowPrivateAddresses: false,
    resolve: async () => ["127.0.0.1"],
    signal: new AbortController().signal,
    ...options,
  });

describe("the request that sends a report", () => {
  test("contains the bytes of the report, and their type", async () => {
    const { requests, port } = await receiver();
    const sent = Math.floor(Date.now() / 1000);
    const headers = { "X-Own": "1", "Content-Type": "text/plain", "USER-AGENT": "mine" };
    expect(await send(`http://127.0.0.1:${port}/hook?a=b`, { headers })).toEqual({
      status: 200,
      retryAfterMs: undefined,
    });
    const [request] = requests;
    expect(requests).toHaveLength(1);
    expect({ method: request?.method, url: request?.url, text: request?.text }).toEqual({
      method: "POST",
      url: "/hook?a=b",
      text: report.body,
    });
    expect(request?.headers).toMatchObject({
      "x-own": "1",
      "user-agent": "mine",
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(report.body)),
      "x-hopx-delivery": "d1",
      connection: "close",
    });
    const names = request?.rawHeaders.filter((_, index) => index % 2 === 0) ?? [];
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
    expect(request?.headers).not.toHaveProperty("x-hopx-signature");
    expect(request?.headers["x-hopx-timestamp"]).toMatch(/^\d+$/);
    expect(Number(request?.headers["x-hopx-timestamp"])).toBeGreaterThanOrEqual(sent);
    expect(Number(request?.headers["x-hopx-timestamp"])).toBeLessThanOrEqual(Date.now() / 1000);
  });

  test("is signed with the secret, and names its sender", async () => {
    const { requests, port } = await receiver();
    await send(`http://127.0.0.1:${port}/`, { secret: "s3cret" });
    const signature = createHmac("sha256", "s3cret").update(Buffer.from(report.body)).digest("hex");
    expect(requests[0]?.headers).toMatchObject({ "x-hopx-signature": `sha256=${signature}` });
    expect(requests[0]?.headers["user-agent"]).toMatch(/^cloud-sandbox-local\/\d/);
  });

  test.each([200, 204, 302, 404, 410, 503])(
    "gives the status %d that it is answered with",
    async (status) => {
      const { requests, port } = await receiver((_, response) =>
        response.writeHead(status, { location: "/elsewhere" }).end(),
      );
      expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status });
      expect(requests).toHaveLength(1);
    },
  );

  test("to an https URL is not sent without TLS", async () => {
    const { requests, port } = await receiver();
    await expect(send(`https://127.0.0.1:${port}/`)).rejects.not.toMatchObject({
      code: "ERR_INVALID_PROTOCOL",
    });
    expect(requests).toEqual([]);
  });
});

describe("a Retry-After header", () => {
  test.each([
    ["0", 0],
    ["3", 3000],
    ["120", 120_000],
    [new Date(Date.now() - 60_000).toUTCString(), 0],
    ["soon", undefined],
    ["", undefined],
  ])("of %j means %s", async (value, retryAfterMs) => {
    const { port } = await receiver((_, response) => response.writeHead(503, { "retry-after": value }).end());
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ status: 503, retryAfterMs });
  });

  test.each([
    ["a date", (date: Date) => date.toUTCString()],
    ["a date that begins with digits", (date: Date) => date.toUTCString().replace(/^\w+, /, "")],
    ["a date that ends with digits", (date: Date) => date.toISOString().replace(/\.000Z$/, "+00:00")],
  ])("of %s means so many milliseconds from now", async (_, spell) => {
    const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3_600_000);
    const { port } = await receiver((_, response) =>
      response.writeHead(503, { "retry-after": spell(date) }).end(),
    );
    const { retryAfterMs } = await send(`http://127.0.0.1:${port}/`);
    expect(retryAfterMs).toBeGreaterThan(3_500_000);
    expect(retryAfterMs).toBeLessThanOrEqual(3_601_000);
  });
});

describe("the receiver of a report", () => {
  test("that is silent is given up in time", async () => {
    const { port } = await receiver(() => undefined);
    await expect(send(`http://127.0.0.1:${port}/`, {}, { timeoutMs: 50 })).rejects.toMatchObject({
      name: "AbortError",
    });
  });

  test("is given up when the server ends", async () => {
    const ended = new AbortController();
    const { port } = await receiver(() => ended.abort());
    await expect(send(`http://127.0.0.1:${port}/`, {}, { signal: ended.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
  });

  test("whose answer does not end is read no further", async () => {
    let written = 0; // KiB
    let isClosed = false;
    const { port } = await receiver((_, response) => {
      const write = (): void => {
        do written += 16;
        while (response.write(Buffer.alloc(16 * 1024)) && !response.destroyed);
      };
      response.on("drain", write).on("close", () => {
        isClosed = true;
      });
      write();
    });
    const answer = await send(`http://127.0.0.1:${port}/`, {}, { timeoutMs: 600_000 });
    expect(answer.status).toBe(200);
    await expect.poll(() => isClosed).toBe(true);
    expect(written).toBeGreaterThan(64);
  });

  test.each(["Upgrade", "keep-alive"])(
    "that switches to another protocol has answered, and its connection is closed: Connection: %s",
    { timeout: 10_000 },
    async (connection) => {
      let isClosed = false;
      const { port } = await receiver((_, response) => {
        response.socket?.once("close", () => {
          isClosed = true;
        });
        response.socket?.write(
          `HTTP/1.1 101 Switching Protocols\r\nConnection: ${connection}\r\nUpgrade: other\r\n\r\nhello`,
        );
      });
      expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ status: 101, retryAfterMs: undefined });
      await expect.poll(() => isClosed).toBe(true);
    },
  );

  test("that closes the connection within its answer counts as having answered", async () => {
    const { port } = await receiver((_, response) => {
      response.writeHead(200, { "content-length": 100 }).write("x", () => response.destroy());
    });
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
  });
});

describe.each([true, false])("where Node tries several addresses at a time: %s, a name", (all) => {
  const named = async (resolved: readonly string[], allowPrivateAddresses = false) => {
    const before = getDefaultAutoSelectFamily();
    setDefaultAutoSelectFamily(all);
    onTestFinished(() => setDefaultAutoSelectFamily(before));
    const { requests, port } = await receiver();
    const asked: string[] = [];
    const resolve = async (name: string): Promise<readonly string[]> => {
      asked.push(name);
      return resolved;
    };
    const outcome = send(`http://a.example:${port}/`, {}, { resolve, allowPrivateAddresses });
    return { outcome, requests, asked };
  };

  test("is looked up once, and that address is connected to", async () => {
    const { outcome, requests, asked } = await named(["127.0.0.1"]);
    expect(await outcome).toMatchObject({ status: 200 });
    expect(requests[0]?.headers.host).toMatch(/^a\.example:/);
    expect(asked).toEqual(["a.example"]);
  });

  test.each([[["10.0.0.1"]], [["127.0.0.1", "10.0.0.1"]], [["10.0.0.1", "127.0.0.1"]]])(
    "of %j is not connected to",
    async (resolved) => {
      const { outcome, requests } = await named(resolved);
      await expect(outcome).rejects.toBeInstanceOf(PrivateAddressError);
      expect(requests).toEqual([]);
    },
  );

  test("without addresses is unknown", async () => {
    await expect((await named([])).outcome).rejects.toMatchObject({ code: "ENOTFOUND" });
  });
});

test.each(["10.0.0.1", "localhost"])("to %s itself nothing is sent", async (host) => {
  const error = await send(`http://${host}:9/`).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(PrivateAddressError);
  expect(error).toMatchObject({ name: "PrivateAddressError", message: expect.stringContaining("public") });
});

test("where private addresses are allowed, the private address of a name is taken", async () => {
  const { requests, port } = await receiver();
  const resolve = async () => ["::ffff:127.0.0.1"];
  const url = `http://receiver.internal:${port}/`;
  await send(url, {}, { allowPrivateAddresses: true, resolve });
  expect(requests).toHaveLength(1);
  await expect(send(url, {}, { resolve })).rejects.toThrow(PrivateAddressError);
});
