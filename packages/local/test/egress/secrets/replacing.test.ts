import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { text } from "../../support/egress-proxy.js";
import { Origin, originName, SecretProxy, secretValue } from "../../support/secret-origin.js";

let origin: Origin;
let proxy: SecretProxy;

beforeEach(async () => {
  origin = await Origin.start();
  proxy = await SecretProxy.start(origin, { TOKEN: { hosts: [origin.at] } });
});

afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  await origin[Symbol.asyncDispose]();
});

const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
const last = () => origin.received.at(-1);

test("a program's certificate is for the host, from the proxy's authority", async () => {
  const secured = await proxy.secured(origin.at);
  expect(secured.authorized).toBe(true);
  expect(secured.getPeerCertificate().subjectaltname).toBe(`DNS:${originName}`);
  secured.destroy();
});

describe("a placeholder is replaced", () => {
  test.each([
    ["after Bearer", (text: string) => `Bearer ${text}`, `Bearer ${secretValue}`],
    ["after token", (text: string) => `token ${text}`, `token ${secretValue}`],
    ["alone", (text: string) => text, secretValue],
    [
      "as the password of Basic",
      (text: string) => basic(`x-access-token:${text}`),
      basic(`x-access-token:${secretValue}`),
    ],
    ["as the user of Basic", (text: string) => basic(`${text}:`), basic(`${secretValue}:`)],
  ])("in authorization, %s", async (_, written, sent) => {
    const { status } = await proxy.ask(origin.at, {
      headers: { authorization: written(proxy.placeholder()) },
    });
    expect(status).toBe(200);
    expect(last()?.headers.authorization).toBe(sent);
  });

  test("in x-api-key, and a request without it passes as it is", async () => {
    await proxy.ask(origin.at, { headers: { "x-api-key": proxy.placeholder() } });
    expect(last()?.headers["x-api-key"]).toBe(secretValue);
    await proxy.ask(origin.at, { headers: { authorization: "Bearer own", "accept-encoding": "br" } });
    expect(last()?.headers).toMatchObject({ authorization: "Bearer own", "accept-encoding": "br" });
  });

  test("in each request of a connection, also when they come at once", async () => {
    const secured = await proxy.secured(origin.at);
    const ask = (index: number): string =>
      `GET /${index} HTTP/1.1\r\nhost: ${origin.at}\r\n${index % 2 === 0 ? `authorization: Bearer ${proxy.placeholder()}\r\n` : ""}\r\n`;
    secured.write(Array.from({ length: 20 }, (_, index) => ask(index)).join(""));
    await expect.poll(() => origin.received.length).toBe(20);
    expect(origin.received.map(({ url }) => url)).toEqual(
      Array.from({ length: 20 }, (_, index) => `/${index}`),
    );
    expect(origin.received.map(({ headers }) => headers.authorization !== undefined)).toEqual(
      Array.from({ length: 20 }, (_, index) => index % 2 === 0),
    );
    secured.destroy();
  });
});

describe("a placeholder is refused and logged", () => {
  test.each<[string, object | ((placeholder: string) => object)]>([
    ["in another header", (text) => ({ headers: { "user-agent": text } })],
    ["in a cookie", (text) => ({ headers: { cookie: `a=${text}` } })],
    ["in the query", (text) => ({ path: `/?key=${text}` })],
    ["in the path", (text) => ({ path: `/bot${text}/send` })],
    [
      "beside other text in authorization",
      (text) => ({ headers: { authorization: `AWS4-HMAC-SHA256 Credential=${text}/20260101` } }),
    ],
    ["within the user of Basic", (text) => ({ headers: { authorization: basic(`a${text}:b`) } })],
    [
      "that no secret has",
      { headers: { authorization: "Bearer csb_secret_00000000000000000000000000000000" } },
    ],
  ])("%s", async (_, asked) => {
    const { status, body } = await proxy.ask(
      origin.at,
      typeof asked === "function" ? asked(proxy.placeholder()) : asked,
    );
    expect(status).toBe(403);
    expect(body).not.toContain(secretValue);
    expect(origin.received).toEqual([]);
    expect(proxy.proxy.egress.log.entries.at(-1)).toMatchObject({ protocol: "https", decision: "refused" });
  });

  test("over plain HTTP", async () => {
    const said = await proxy.proxy.say(
      `GET http://${origin.at}/ HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${proxy.placeholder()}\r\n\r\n`,
    );
    expect(said).toMatch(/^HTTP\/1\.1 403 Secrets are sent over TLS alone/);
    expect(proxy.proxy.egress.log.entries.at(-1)).toMatchObject({ decision: "refused" });
  });

  test("in a request without a tunnel", async () => {
    const said = await proxy.proxy.say(`GET https://${origin.at}/ HTTP/1.1\r\nhost: x\r\n\r\n`);
    expect(said).toMatch(/^HTTP\/1\.1 403 Secrets are put into requests within a tunnel alone/);
  });

  test("of a secret that is for another host", async () => {
    proxy.set({ TOKEN: { hosts: [origin.at] }, OTHER: { hosts: ["other.origin.test"] } });
    const headers = { authorization: `Bearer ${proxy.placeholder("OTHER")}` };
    expect(await proxy.ask(origin.at, { headers })).toMatchObject({
      status: 403,
      body: "The secret OTHER is not for this host.\n",
    });
  });
});

test("a host without a secret is reached through a blind tunnel, and gets the placeholder as it is", async () => {
  const authority = `blind.origin.test:${origin.port}`;
  const socket = await proxy.proxy.tunnel(authority);
  const { connect } = await import("node:tls");
  const secured = connect({ socket, servername: "blind.origin.test", ca: origin.authority.pem });
  await once(secured, "secureConnect");
  secured.write(
    `GET / HTTP/1.1\r\nhost: ${authority}\r\nauthorization: Bearer ${proxy.placeholder()}\r\nconnection: close\r\n\r\n`,
  );
  await expect.poll(() => last()?.headers.authorization).toBe(`Bearer ${proxy.placeholder()}`);
  secured.destroy();
});

test("a placeholder in a body passes as it is", async () => {
  await proxy.ask(origin.at, { method: "POST", body: proxy.placeholder() });
  expect(last()?.body).toBe(proxy.placeholder());
});

test("headers and Basic of a secret are set, whatever the program sends", async () => {
  proxy.set({
    KEY: { hosts: [origin.at], headers: { "Private-Token": "v1 {value}" }, methods: ["GET"], env: false },
    GIT: { hosts: [origin.at], basic: "git" },
  });
  await proxy.ask(origin.at, { headers: { "private-token": "own", authorization: "Bearer own" } });
  expect(last()?.headers).toMatchObject({
    "private-token": `v1 ${secretValue}`,
    authorization: basic(`git:${secretValue}`),
  });
  expect(proxy.proxy.egress.log.entries.at(-1)).toMatchObject({
    request: { method: "GET", path: "/", status: 200, secrets: ["KEY", "GIT"] },
  });
  await proxy.ask(origin.at, { method: "PUT", headers: { "private-token": "own" } });
  expect(last()?.headers).not.toHaveProperty("private-token");
});

test("a value is set in a header as it is, whatever signs it has", async () => {
  const value = "$$ $& $` $' $1 0123456789";
  proxy.set({ KEY: { value, hosts: [origin.at], headers: { "x-key": "v1 {value}; {value}" }, env: false } });
  await proxy.ask(origin.at);
  expect(last()?.headers["x-key"]).toBe(`v1 ${value}; ${value}`);
});

test("paths and methods limit a secret, and paths that hide another one are refused", async () => {
  proxy.set({ TOKEN: { hosts: [origin.at], paths: ["/v1/*", "/exact"], methods: ["GET"] } });
  const headers = { authorization: `Bearer ${proxy.placeholder()}` };
  for (const path of ["/v1/x", "/v1/", "/exact", "/exact?q=1"])
    expect([path, (await proxy.ask(origin.at, { path, headers })).status]).toEqual([path, 200]);
  for (const path of [
    "/v10",
    "/v1",
    "/exact/",
    "/v1/../admin",
    "/v1%2f..",
    "//v1/x",
    "/v1/x;y",
    "/v1/%2e%2e/admin",
    "/v1\\x",
  ])
    expect([path, (await proxy.ask(origin.at, { path, headers })).status]).toEqual([path, 403]);
  expect((await proxy.ask(origin.at, { method: "POST", path: "/v1/x", headers })).status).toBe(403);
  expect(origin.received.length).toBe(4);
});

describe("the value is taken out of", () => {
  const asked = () => ({ headers: { authorization: basic(`user:${proxy.placeholder()}`) } });

  test("headers, trailers and bodies, also in parts, with the credentials for Basic", async () => {
    const credentials = Buffer.from(`user:${secretValue}`).toString("base64");
    origin.handle = (request, response) => {
      response.setHeader("location", `https://elsewhere.test/?token=${secretValue}`);
      response.setHeader("x-echo", request.headers.authorization ?? "");
      response.setHeader("trailer", "x-last");
      response.write(`${secretValue} ${secretValue.slice(0, 9)}`);
      setTimeout(() => {
        response.addTrailers({ "x-last": secretValue });
        response.end(`${secretValue.slice(9)} ${credentials} real-`);
      }, 20);
    };
    const answer = await proxy.ask(origin.at, asked());
    const stars = "*".repeat(secretValue.length);
    expect(answer.headers.location).toBe(`https://elsewhere.test/?token=${stars}`);
    expect(answer.headers["x-echo"]).toBe(`Basic ${"*".repeat(credentials.length)}`);
    expect(answer.trailers["x-last"]).toBe(stars);
    expect(answer.body).toBe(`${stars} ${stars} ${"*".repeat(credentials.length)} real-`);
  });

  test("answers that tell of an earlier request, to one without a credential", async () => {
    origin.handle = (request, response) => response.end(`${secretValue} ${request.headers.authorization}`);
    const { body } = await proxy.ask(origin.at);
    expect(body).toBe(`${"*".repeat(secretValue.length)} undefined`);
  });

  test("bodies that are compressed although it was not asked for: they are cut", async () => {
    origin.handle = (request, response) => {
      expect(request.headers["accept-encoding"]).toBe("identity");
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync(request.url === "/repeats" ? `a ${secretValue}` : "nothing"));
    };
    await expect(proxy.ask(origin.at, { ...asked(), path: "/repeats" })).rejects.toThrow();
    expect(proxy.proxy.egress.log.entries.at(-1)).toMatchObject({
      decision: "failed",
      reason: "The answer repeats a secret, compressed, and was cut.",
    });
    expect(await proxy.ask(origin.at, asked())).toMatchObject({ isWhole: true });
  });

  test.each<[string, string, (text: string) => readonly (Buffer | string)[]]>([
    ["deflate without its header", "deflate", (text) => [deflateRawSync(text)]],
    ["deflate with its header", "deflate", (text) => [deflateSync(text)]],
    ["gzip beside identity", "identity, GZIP", (text) => [gzipSync(text)]],
    ["nothing, although they say so", "gzip", (text) => [text]],
    ["gzip that is followed by it", "gzip", (text) => [gzipSync("a"), text]],
    ["gzip that is followed by more", "gzip", (text) => [gzipSync("a"), gzipSync(text)]],
    [
      "gzip that is followed by it at once",
      "gzip",
      (text) => [Buffer.concat([gzipSync("a"), Buffer.from(text)])],
    ],
  ])("bodies that are compressed by %s: they are cut", async (_, encoding, pieces) => {
    origin.handle = async (request, response) => {
      response.setHeader("content-encoding", encoding);
      for (const piece of pieces(request.url === "/repeats" ? `a ${secretValue}` : "nothing")) {
        response.write(piece);
        await sleep(50);
      }
      response.end();
    };
    expect(
      await proxy.ask(origin.at, { ...asked(), path: "/repeats" }).then(
        ({ isWhole }) => isWhole,
        () => false,
      ),
    ).toBe(false);
    expect(await proxy.ask(origin.at, asked())).toMatchObject({ isWhole: true });
  });

  test("a compressed answer to a request for a WebSocket: it is cut", async () => {
    (origin.server as unknown as NodeJS.EventEmitter).on("upgrade", (_, socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n");
      socket.end(gzipSync(`a ${secretValue}`));
    });
    const secured = await proxy.secured(origin.at);
    secured.write(
      `GET / HTTP/1.1\r\nhost: ${origin.at}\r\nauthorization: Bearer ${proxy.placeholder()}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n`,
    );
    expect(await text(secured)).toMatch(/\r\n\r\n$/);
  });

  test("bodies and headers that have two values, of which one begins the other", async () => {
    const longer = `${secretValue}-and-more`;
    proxy.set({ TOKEN: { hosts: [origin.at] }, OTHER: { hosts: [origin.at], value: longer } });
    origin.handle = (_, response) => {
      response.setHeader("x-echo", longer);
      response.end(`${longer} ${secretValue}`);
    };
    const { headers, body } = await proxy.ask(origin.at, asked());
    expect(headers["x-echo"]).toBe("*".repeat(longer.length));
    expect(body).toBe(`${"*".repeat(longer.length)} ${"*".repeat(secretValue.length)}`);
  });

  test("names of headers, and the list of trailers", async () => {
    origin.handle = (_, response) => {
      response.setHeader(secretValue, "1");
      response.setHeader("trailer", `x-last, ${secretValue}`);
      response.write("a");
      response.addTrailers({ "x-last": "1" });
      response.end();
    };
    const stars = "*".repeat(secretValue.length);
    const { headers } = await proxy.ask(origin.at, asked());
    expect(headers).toMatchObject({ [stars]: "1", trailer: `x-last, ${stars}` });
    expect(headers).not.toHaveProperty(secretValue);
  });
});

test("a secret that is replaced or deleted closes the connections to its hosts", async () => {
  const secured = await proxy.secured(origin.at);
  const closed = once(secured.resume(), "end");
  proxy.set({});
  await closed;
});
