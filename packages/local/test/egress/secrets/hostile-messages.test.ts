// @module-tag openssl
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { constants } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import { promisify } from "node:util";
import { brotliCompressSync, constants as zlib } from "node:zlib";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { CertificateAuthority } from "../../../src/egress/secrets/certificate-authority.js";
import { socks, text } from "../../support/egress-proxy.js";
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

const authorization = (): string => `authorization: Bearer ${proxy.placeholder()}`;
const lastEntry = () => proxy.proxy.egress.log.entries.at(-1);

/** What a raw request gets, followed by a second one that must not be read as a part of it. */
async function say(head: readonly string[], body = ""): Promise<string> {
  const secured = await proxy.secured(origin.at);
  const second = `GET /second HTTP/1.1\r\nhost: ${origin.at}\r\n${authorization()}\r\nconnection: close\r\n\r\n`;
  secured.write(`${head.join("\r\n")}\r\n\r\n${body}${second}`);
  return text(secured);
}

describe("a request that servers read in different ways is refused:", () => {
  const chunked = "0\r\n\r\n";
  test.each<[string, string, () => string[], string?]>([
    ["two hosts", "400", () => ["GET / HTTP/1.1", `host: ${origin.at}`, "host: other.test"]],
    ["another host", "421", () => ["GET / HTTP/1.1", "host: other.test"]],
    ["another port", "421", () => ["GET / HTTP/1.1", `host: ${originName}:1`]],
    ["no host", "400", () => ["GET / HTTP/1.1"]],
    [
      "two lengths",
      "400",
      () => ["POST / HTTP/1.1", `host: ${origin.at}`, "content-length: 0", "content-length: 5"],
    ],
    [
      "a length and chunks",
      "400",
      () => ["POST / HTTP/1.1", `host: ${origin.at}`, "content-length: 5", "transfer-encoding: chunked"],
      chunked,
    ],
    [
      "gzip, chunked",
      "400",
      () => ["POST / HTTP/1.1", `host: ${origin.at}`, "transfer-encoding: gzip, chunked"],
      chunked,
    ],
    [
      "chunks in HTTP/1.0",
      "400",
      () => ["POST / HTTP/1.0", `host: ${origin.at}`, "transfer-encoding: chunked"],
      chunked,
    ],
    [
      "xchunked",
      "400",
      () => ["POST / HTTP/1.1", `host: ${origin.at}`, "transfer-encoding: xchunked"],
      chunked,
    ],
    ["a blank before a colon", "400", () => ["GET / HTTP/1.1", `host : ${origin.at}`]],
    ["a folded line", "400", () => ["GET / HTTP/1.1", `host: ${origin.at}`, "x: a", " b"]],
    ["TRACE", "403", () => ["TRACE / HTTP/1.1", `host: ${origin.at}`]],
    ["another server in its target", "421", () => [`GET https://other.test/ HTTP/1.1`, `host: ${origin.at}`]],
    ["plain HTTP in its target", "400", () => [`GET http://${origin.at}/ HTTP/1.1`, `host: ${origin.at}`]],
    [
      "another protocol",
      "400",
      () => ["GET / HTTP/1.1", `host: ${origin.at}`, "connection: upgrade", "upgrade: tcp"],
    ],
    [
      "a head of 17 KiB",
      "431",
      () => ["GET / HTTP/1.1", `host: ${origin.at}`, `x: ${"a".repeat(17 * 1024)}`],
    ],
  ])("%s", async (_, status, head, body) => {
    expect(await say([...head(), authorization()], body)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(origin.received).toEqual([]);
  });

  test("CONNECT in a tunnel", async () => {
    expect(await say([`CONNECT other.test:443 HTTP/1.1`, `host: ${origin.at}`])).toBe("");
    expect(origin.received).toEqual([]);
  });
});

test("of requests that come at once, 256 wait, and a connection with more is closed", async () => {
  origin.handle = () => undefined;
  const secured = await proxy.secured(origin.at);
  const ended = new Promise((resolve) => secured.resume().once("end", resolve));
  secured.write(`GET / HTTP/1.1\r\nhost: ${origin.at}\r\n\r\n`.repeat(300));
  await ended;
});

test.each([
  ["/ü", "400", "The address of the request has characters that must be encoded in a URL, as in caf%C3%A9."],
  [`/${"a".repeat(17 * 1024)}`, "431", "A request to a host that has a secret may have 16 KiB of headers"],
])("a request that cannot be read is told why, also in the log: %.5s", async (path, status, reason) => {
  const secured = await proxy.secured(origin.at);
  secured.write(`GET ${path} HTTP/1.1\r\nhost: ${origin.at}\r\n\r\n`);
  const said = await text(secured);
  expect(said).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(said).toContain(`\r\n\r\n${reason}`);
  expect(lastEntry()).toMatchObject({ decision: "refused", reason: expect.stringContaining(reason) });
});

test("a header that Connection names is dropped before one is set", async () => {
  proxy.set({ TOKEN: { hosts: [origin.at], headers: { "x-token": "{value}" } } });
  await proxy.ask(origin.at, { headers: { connection: "x-token, close", "x-token": "own" } });
  expect(origin.received[0]?.headers["x-token"]).toBe(secretValue);
});

describe("TLS with the program", () => {
  test.each([
    [
      "names another host",
      "other.origin.test",
      /asked for "other\.origin\.test" in a tunnel to api\.origin\.test/,
    ],
    ["does not trust the authority", originName, /it may not trust this server's authority/],
  ])("is refused when it %s", async (_, servername, reason) => {
    const socket = await proxy.proxy.tunnel(origin.at);
    const secured = connect({ socket, servername, ca: origin.authority.pem });
    await new Promise((resolve) => secured.once("error", resolve));
    await expect.poll(lastEntry).toMatchObject({ reason: expect.stringMatching(reason) });
    expect(origin.received).toEqual([]);
  });

  test.each([
    ["SSH", "SSH-2.0-client\r\n"],
    ["plain HTTP", "GET / HTTP/1.1\r\n\r\n"],
  ])("is needed: %s is refused", async (_, bytes) => {
    const socket = await proxy.proxy.tunnel(origin.at);
    socket.write(bytes);
    await text(socket);
    await expect.poll(lastEntry).toMatchObject({
      decision: "refused",
      reason: expect.stringContaining("Only TLS may be spoken"),
    });
    expect(origin.received).toEqual([]);
  });

  test("works after SOCKS5 too", async () => {
    const client = await proxy.proxy.connect();
    client.write(socks(originName, origin.port));
    let answered = Buffer.alloc(0);
    while (answered.length < 12) {
      const piece = client.read() as Buffer | null;
      if (piece) answered = Buffer.concat([answered, piece]);
      else await once(client, "readable");
    }
    const secured = connect({ socket: client, servername: originName, ca: proxy.proxy.gateway.authority });
    secured.write(`GET / HTTP/1.1\r\nhost: ${origin.at}\r\n${authorization()}\r\nconnection: close\r\n\r\n`);
    expect(await text(secured)).toMatch(/^HTTP\/1\.1 200 /);
    expect(origin.received[0]?.headers.authorization).toBe(`Bearer ${secretValue}`);
  });
});

describe("the real server's certificate is checked before the program gets its tunnel:", () => {
  const make = async (...args: readonly string[]) => {
    const directory = await mkdtemp(join(tmpdir(), "certificates-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    const keys = [
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-keyout",
      "key.pem",
      "-out",
      "cert.pem",
    ];
    await promisify(execFile)("openssl", ["req", "-x509", ...keys, ...args], { cwd: directory });
    const read = (name: string) => readFile(join(directory, name), "utf8");
    return { key: await read("key.pem"), cert: await read("cert.pem") };
  };
  const names = (...list: string[]) => [
    "-addext",
    `subjectAltName=${list.map((name) => `DNS:${name}`).join(",")}`,
  ];

  test.each<[string, () => readonly string[], boolean, string]>([
    [
      "of an unknown authority",
      () => ["-days", "2", "-subj", "/CN=x", ...names(originName)],
      false,
      "SELF_SIGNED",
    ],
    [
      "for another name",
      () => ["-days", "2", "-subj", "/CN=x", ...names("other.test")],
      true,
      "does not have this name",
    ],
    [
      "with a common name alone",
      () => ["-days", "2", "-subj", `/CN=${originName}`],
      true,
      "does not have this name",
    ],
    [
      "with part of a label",
      () => ["-days", "2", "-subj", "/CN=x", ...names("a*.origin.test")],
      true,
      "does not have this name",
    ],
    [
      "that has expired",
      () => [
        "-not_before",
        "20200101000000Z",
        "-not_after",
        "20200102000000Z",
        "-subj",
        "/CN=x",
        ...names(originName),
      ],
      true,
      "CERT_HAS_EXPIRED",
    ],
  ])("one %s is refused", async (_, args, isTrusted, reason) => {
    const made = await make(...args()).catch(() => undefined);
    if (!made) return;
    await using server = await Origin.start(made);
    await using other = await SecretProxy.start(
      server,
      { TOKEN: { hosts: [server.at] } },
      {
        authorities: () => (isTrusted ? made.cert : ""),
      },
    );
    const said = await other.proxy.say(`CONNECT ${server.at} HTTP/1.1\r\n\r\n`);
    expect(said).toMatch(/^HTTP\/1\.1 502 /);
    expect(said).toContain(reason);
    expect(server.received).toEqual([]);
  });
});

describe("HTTP/2", () => {
  const ask = async (headers: Record<string, string>, body?: string) => {
    const session = await proxy.http2(origin.at);
    const stream = session.request({
      ":path": "/",
      ":method": body === undefined ? "GET" : "POST",
      ...headers,
    });
    let trailers: Record<string, unknown> = {};
    stream.on("trailers", (last) => {
      trailers = last;
    });
    stream.end(body);
    const [answered] = await once(stream, "response");
    const pieces: Buffer[] = [];
    for await (const piece of stream) pieces.push(piece);
    session.close();
    return {
      status: answered[":status"],
      headers: answered,
      trailers,
      body: Buffer.concat(pieces).toString(),
    };
  };

  test("is spoken with programs that offer nothing else, as gRPC: with trailers, and a body both ways", async () => {
    origin.handle = (request, response, body) => {
      expect(request.httpVersion).toBe("2.0");
      expect(request.headers.te).toBe("trailers");
      response.addTrailers({ "grpc-status": "0", "x-echo": secretValue });
      response.end(`${body} ${request.headers.authorization}`);
    };
    const answer = await ask({ te: "trailers", authorization: `Bearer ${proxy.placeholder()}` }, "asked");
    expect(origin.received[0]?.headers.authorization).toBe(`Bearer ${secretValue}`);
    expect(answer).toMatchObject({
      status: 200,
      body: `asked Bearer ${"*".repeat(secretValue.length)}`,
      trailers: { "grpc-status": "0", "x-echo": "*".repeat(secretValue.length) },
    });
  });

  test.each<[string, number, () => Record<string, string>]>([
    ["another authority", 421, () => ({ ":authority": "other.test" })],
    ["another host beside it", 421, () => ({ host: "other.test" })],
    ["a placeholder elsewhere", 403, () => ({ "user-agent": proxy.placeholder() })],
    ["TRACE", 403, () => ({ ":method": "TRACE" })],
    ["an unknown placeholder", 403, () => ({ "x-api-key": "csb_secret_00000000000000000000000000000000" })],
  ])("is refused with %s", async (_, status, headers) => {
    expect((await ask(headers())).status).toBe(status);
    expect(origin.received).toEqual([]);
  });

  test("is spoken with a server that speaks nothing else, and a program that does not is told in the log", async () => {
    await using server = await Origin.start({ alpn: ["h2"] });
    await using other = await SecretProxy.start(server, { TOKEN: { hosts: [server.at] } });
    const session = await other.http2(server.at);
    const stream = session.request({ authorization: `Bearer ${other.placeholder()}` });
    await once(stream, "response");
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${secretValue}`);
    session.destroy();
    await expect(other.secured(server.at)).rejects.toThrow();
    await expect
      .poll(() => other.proxy.egress.log.entries.at(-1)?.reason)
      .toContain("speaks HTTP/2 only, and the program does not");
  });

  test("ends when the program resets a stream, and others go on", async () => {
    origin.handle = (request, response) => {
      if (request.url === "/slow") response.write("begun");
      else response.end("done");
    };
    const session = await proxy.http2(origin.at);
    const slow = session.request({ ":path": "/slow" });
    await once(slow, "response");
    slow.close(constants.NGHTTP2_CANCEL);
    const other = session.request({ ":path": "/other" });
    await once(other, "response");
    session.destroy();
  });
});

/** The bytes of a frame of HTTP/2. */
function frame(type: number, flags: number, stream: number, payload: readonly number[]): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, Buffer.from(payload)]);
}

/** A text as HPACK has it, and a header that is in no table. */
const packed = (value: string): number[] => [value.length, ...Buffer.from(value)];
const header = (name: string, value: string): number[] => [0, ...packed(name), ...packed(value)];

/** Whether a client has sent a frame of the type HEADERS, whose stream is 1. */
function hasHeaders(bytes: Buffer): boolean {
  for (let at = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".length; at + 9 <= bytes.length; ) {
    if (bytes[at + 3] === 1) return true;
    at += 9 + bytes.readUIntBE(at, 3);
  }
  return false;
}

describe("HTTP/2 that ends no server:", () => {
  test.each<[string, number[]]>([
    ["a status that there is not", [0x08, ...packed("600")]],
    ["a header of the connection", [0x88, ...header("te", "Trailers")]],
    ["a header of its settings", [0x88, ...header("http2-settings", "x")]],
  ])("an answer with %s", async (_, block) => {
    const authority = new CertificateAuthority();
    const server = createServer({
      ALPNProtocols: ["h2"],
      SNICallback: (name, done) => done(null, authority.contextFor(name)),
    });
    server.on("secureConnection", (socket) => {
      socket.on("error", () => undefined);
      socket.write(frame(4, 0, 0, []));
      let received = Buffer.alloc(0);
      let isAnswered = false;
      socket.on("data", (piece) => {
        received = Buffer.concat([received, piece]);
        if (isAnswered || !hasHeaders(received)) return;
        isAnswered = true;
        socket.write(Buffer.concat([frame(4, 1, 0, []), frame(1, 5, 1, block)]));
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using other = await SecretProxy.start(
      { authority, port },
      { TOKEN: { hosts: [`${originName}:${port}`] } },
    );
    const session = await other.http2(`${originName}:${port}`);
    session.on("error", () => undefined);
    const stream = session.request({ authorization: `Bearer ${other.placeholder()}` });
    await expect(once(stream, "response")).rejects.toThrow();
    await expect
      .poll(() => other.proxy.egress.log.entries.at(-1)?.reason)
      .toBe("The answer is not valid in HTTP/2.");
    session.destroy();
    server.close();
  });
});

test("an answer that inflates to a multiple of itself is cut, and the log keeps little of a request", async () => {
  const bomb = brotliCompressSync(Buffer.alloc(256 * 1024 * 1024), {
    params: { [zlib.BROTLI_PARAM_QUALITY]: 1, [zlib.BROTLI_PARAM_LGWIN]: 24 },
  });
  expect(bomb.length).toBeLessThan(100_000);
  origin.handle = (_, response) => {
    response.setHeader("content-encoding", "br");
    response.end(bomb);
  };
  const asked = {
    headers: { authorization: `Bearer ${proxy.placeholder()}` },
    path: `/${"a".repeat(10_000)}`,
  };
  await expect(proxy.ask(origin.at, asked)).rejects.toThrow();
  expect(lastEntry()).toMatchObject({
    ...{ decision: "failed", request: { method: "GET", path: `/${"a".repeat(511)}` } },
    reason: "The answer inflates to more than is searched for a secret, and was cut.",
  });
  const session = await proxy.http2(origin.at);
  const stream = session.request({ ":method": "M".repeat(10_000), ":path": "/" });
  stream
    .on("error", () => undefined)
    .resume()
    .end();
  await new Promise((resolve) => stream.once("close", resolve));
  expect(lastEntry()?.request?.method).toBe("M".repeat(32));
  session.destroy();
});

test("a WebSocket is joined, and its handshake has the value", async () => {
  const server = origin.server as unknown as NodeJS.EventEmitter;
  server.on("upgrade", (request, socket) => {
    origin.received.push(request);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nx-echo: ${secretValue}\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  const secured = await proxy.secured(origin.at);
  const upgrade = ["connection: Upgrade", "upgrade: websocket", "sec-websocket-key: x", authorization()];
  secured.write(`GET /socket HTTP/1.1\r\nhost: ${origin.at}\r\n${upgrade.join("\r\n")}\r\n\r\nframes`);
  let said = "";
  while (!said.includes("frames")) said += (await once(secured, "data"))[0];
  expect(said).toMatch(/^HTTP\/1\.1 101 /);
  expect(said).not.toContain(secretValue);
  expect(origin.received[0]?.headers.authorization).toBe(`Bearer ${secretValue}`);
  secured.destroy();
});

test("a server that wants a certificate of its client is told by name", async () => {
  const directory = await mkdtemp(join(tmpdir(), "server-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, "identity.pem"), origin.authority.identityFor(originName));
  const server = spawn(
    "openssl",
    ["s_server", "-accept", "127.0.0.1:0", "-Verify", "1", "-cert", "identity.pem", "-key", "identity.pem"],
    { cwd: directory, stdio: ["pipe", "pipe", "ignore"] },
  );
  onTestFinished(() => void server.kill());
  let said = "";
  while (!/ACCEPT \S+:\d+/.test(said)) said += (await once(server.stdout, "data"))[0];
  const port = Number(/ACCEPT \S+:(\d+)/.exec(said)?.[1]);
  const at = `${originName}:${port}`;
  await using other = await SecretProxy.start(
    { authority: origin.authority, port },
    { TOKEN: { hosts: [at] } },
  );
  const { status, body } = await other.ask(at);
  expect(status).toBe(502);
  expect(body).toContain("wants a certificate of its client");
});

test("an answer is passed on as it comes, and a large one in constant memory", async () => {
  origin.handle = (_, response) => {
    response.write("data: 1\n\n");
  };
  const secured = await proxy.secured(origin.at);
  secured.write(`GET / HTTP/1.1\r\nhost: ${origin.at}\r\n${authorization()}\r\n\r\n`);
  let said = "";
  while (!said.includes("data: 1\n\n")) said += (await once(secured, "data"))[0];
  secured.destroy();

  const size = 64 * 1024 * 1024;
  origin.handle = (_, response) => {
    response.writeHead(200, { "content-length": String(size) });
    const piece = Buffer.alloc(256 * 1024, "x");
    let left = size;
    const fill = (): void => {
      while (left > 0) {
        left -= piece.length;
        if (!response.write(piece)) return void response.once("drain", fill);
      }
      response.end();
    };
    fill();
  };
  const slow = await proxy.secured(origin.at);
  slow.write(`GET / HTTP/1.1\r\nhost: ${origin.at}\r\n${authorization()}\r\n\r\n`);
  await once(slow, "readable");
  const entry = lastEntry();
  const passed = entry?.bytesReceived ?? 0;
  expect(passed).toBeLessThan(size / 4);
  slow.resume();
  await expect.poll(() => entry?.bytesReceived, { timeout: 20_000 }).toBe(size);
  slow.destroy();
});
