import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { text as allText } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { EgressProxy, echo, read, silent, tcpServer, text } from "../support/egress-proxy.js";

describe("a plain HTTP request through the egress proxy", () => {
  async function recordingServer() {
    const seen: { head: IncomingMessage; body: string }[] = [];
    const server = createServer(async (request, answer) => {
      seen.push({ head: request, body: await allText(request) });
      answer.writeHead(200, {
        connection: "x-mine",
        "x-mine": "1",
        "x-yours": "2",
        "keep-alive": "timeout=9",
      });
      answer.end(`you asked for ${request.url}`);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return { seen, port: address.port, [Symbol.asyncDispose]: async () => void server.close() };
  }

  test("arrives without headers for the proxy, for the host that was checked", async () => {
    await using server = await recordingServer();
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"] });
    const target = `127.0.0.1:${server.port}`;
    const answer = await proxy.say(
      [
        `POST http://${target}/a/../b?c=d HTTP/1.1`,
        "Host: somewhere.else",
        "Proxy-Authorization: Basic c2VjcmV0",
        "Proxy-Connection: keep-alive",
        "Connection: close, X-Dropped",
        "Expect: 100-continue",
        "X-Dropped: 1",
        "X-Kept: 1",
        "X-Kept: 2",
        "Transfer-Encoding: chunked",
        "",
        "3\r\nabc\r\n0\r\n\r\n",
      ].join("\r\n"),
    );
    expect(answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK\r\n/);
    expect(answer).toContain("x-yours: 2");
    expect(answer).not.toContain("x-mine");
    expect(answer).not.toContain("timeout=9");
    expect(answer).toContain("you asked for /a/../b?c=d");
    const [{ head, body } = expect.fail("it did not arrive")] = server.seen;
    expect(head).toMatchObject({ method: "POST", url: "/a/../b?c=d" });
    expect(body).toBe("abc");
    expect(head.rawHeaders.filter((name) => name.toLowerCase() === "host")).toHaveLength(1);
    expect(head.headers).toEqual({
      host: target,
      connection: "close",
      "x-kept": "1, 2",
      "transfer-encoding": "chunked",
    });
    expect(JSON.stringify(proxy.egress.log.entries)).not.toMatch(/c=d|c2VjcmV0|secret/);
  });

  test.each([
    ["DELETE", "Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"],
    ["GET", "Connection: content-length\r\nContent-Length: 5", "hello"],
    ["POST", "Connection: transfer-encoding\r\nTransfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"],
  ])("by %s arrives with its body, framed by %j", async (method, framing, body) => {
    await using server = await recordingServer();
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"] });
    const target = `http://127.0.0.1:${server.port}/a`;
    const head = `${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${framing}`;
    expect(await proxy.say(`${head}\r\n\r\n${body}`)).toContain("you asked for /a");
    expect(server.seen).toMatchObject([{ head: { method }, body: "hello" }]);
  });

  test("is checked again each time on a connection that stays open", async () => {
    await using server = await recordingServer();
    await using elsewhere = await tcpServer(echo, "127.0.0.2", server.port);
    const answers = [["127.0.0.1"], ["127.0.0.2"]];
    let lookups = 0;
    await using proxy = await EgressProxy.start({
      allowPrivate: [`127.0.0.1:${server.port}`],
      resolve: async () => answers[lookups++] ?? [],
    });
    const client = await proxy.connect();
    const ask = async (path: string): Promise<string> => {
      client.write(`GET http://rebinding.example:${server.port}${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      let answer = "";
      while (!/\r\n\r\n.+/s.test(answer)) {
        const bytes = await read(client);
        // Throw at the end of the connection: `read` then resolves at once with nothing, so this loop would block the
        // process for ever.
        if (bytes.length === 0) throw new Error(`It ended with ${answer}`);
        answer += bytes;
      }
      return answer;
    };
    expect(await ask("/first")).toContain("you asked for /first");
    // The name was resolved only once, so the address that was checked is the one that was connected to.
    expect(lookups).toBe(1);
    expect(await ask("/second")).toMatch(/^HTTP\/1.1 403 .*not on the public internet/);
    expect(elsewhere.connections.size).toBe(0);
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    ["with a status line that cannot be passed on", "HTTP/1.1 200 \x01\r\nContent-Length: 0\r\n\r\n"],
    ["with a status that is none", "HTTP/1.1 001 OK\r\nContent-Length: 0\r\n\r\n"],
    ["with another protocol", "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nmore"],
    ["with a switch to no protocol", "HTTP/1.1 101 Switching\r\nContent-Length: 0\r\n\r\n"],
    ["in no HTTP", "SSH-2.0-none\r\n\r\n"],
  ])("that is answered %s is refused, and the connection is not kept", async (_, answer) => {
    await using server = await tcpServer((socket) => {
      silent(socket);
      socket.write(answer, "latin1");
    });
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"] });
    const request = `GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`;
    expect(await proxy.say(request)).toMatch(/^HTTP\/1.1 502 /);
    await expect.poll(() => server.connections.size).toBe(0);
  });

  test("is answered as its server answers, without a date of the proxy's", async () => {
    await using server = await tcpServer((socket) => {
      socket.once("data", () => socket.end("HTTP/1.1 200 Fine\r\nX-Mine: 1\r\nContent-Length: 2\r\n\r\nok"));
    });
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"] });
    const request = `GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    expect(await proxy.say(request)).toBe(
      "HTTP/1.1 200 Fine\r\nX-Mine: 1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
    );
  });

  test("whose server closes the connection before it answers is refused with that reason", async () => {
    await using server = await tcpServer((socket) => socket.once("data", () => socket.destroy()));
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"] });
    const answer = await proxy.say(`GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 502 127.0.0.1:\d+ closed the connection before it answered\./);
  });

  test.each([
    ["something else", "hello\r\n\r\n", "did not answer in HTTP"],
    [
      "two lengths",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
      "did not answer in HTTP",
    ],
    [
      "long headers",
      `HTTP/1.1 200 OK\r\nX: ${"x".repeat(17_000)}\r\n\r\n`,
      "answered with more than 16 KiB of headers",
    ],
  ])("whose server answers with %s is refused with that reason", async (_, said, reason) => {
    await using server = await tcpServer((socket) => socket.once("data", () => socket.end(said)));
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"] });
    const answer = await proxy.say(`GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer).toContain(`HTTP/1.1 502 127.0.0.1:${server.port} ${reason}.`);
  });

  test.each([
    [
      "long headers",
      `GET http://a.example/ HTTP/1.1\r\nCookie: ${"x".repeat(17_000)}\r\n\r\n`,
      /16 KiB.*CONNECT/,
    ],
    ["a long address", `GET http://a.example/${"x".repeat(17_000)} HTTP/1.1\r\n\r\n`, /16 KiB.*CONNECT/],
    [
      "an address that is not encoded",
      "GET http://a.example/café HTTP/1.1\r\nHost: a\r\n\r\n",
      /encoded.*caf%C3%A9/,
    ],
    ["no request at all", "hello\r\n\r\n", /not an HTTP request/],
  ])("with %s is refused with that reason", async (_, request, reason) => {
    await using proxy = await EgressProxy.start();
    expect(await proxy.say(request)).toMatch(reason);
  });

  test("whose server resets the connection in the middle of its answer is broken off", async () => {
    await using server = await tcpServer((socket) => {
      socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na part"));
    });
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"] });
    const client = await proxy.connect();
    client.write(`GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
    let answer = "";
    while (!answer.includes("a part")) answer += String(await read(client));
    for (const socket of server.connections) socket.resetAndDestroy();
    expect(await text(client)).toBe("");
    expect(await proxy.say("GET /path HTTP/1.1\r\nHost: x\r\n\r\n")).toMatch(/^HTTP\/1.1 400 /);
  });

  test("for a tunnel is refused with a complete answer, and the connection is closed", async () => {
    await using proxy = await EgressProxy.start({ rules: { internetAccess: false } });
    const answer = await proxy.say("CONNECT a.example:443 HTTP/1.1\r\n\r\n");
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head.split("\r\n").slice(1)).toEqual([
      "content-type: text/plain",
      `content-length: ${body.length}`,
      "connection: close",
    ]);
    expect(head).toContain(` 403 ${body.trimEnd()}`);
  });

  test("may follow many others that were not answered yet, without a warning of the server's", async () => {
    const warnings: string[] = [];
    // This test's own client gets some, too.
    const note = ({ message }: Error): void =>
      void (message.includes("AbortSignal") && warnings.push(message));
    process.on("warning", note);
    try {
      await using server = await recordingServer();
      await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"] });
      const head = `GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n`;
      const answers = await proxy.say(`${`${head}\r\n`.repeat(30)}${head}Connection: close\r\n\r\n`);
      expect(answers.match(/you asked for/g)).toHaveLength(31);
      // Node.js tells of warnings a tick later.
      await new Promise((resolve) => setImmediate(resolve));
      expect(warnings).toEqual([]);
    } finally {
      process.off("warning", note);
    }
  });

  test("after another that was not answered yet counts as a connection", async () => {
    await using server = await tcpServer(silent);
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"], limits: { connections: 10 } });
    const client = await proxy.connect();
    client.write(`GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(100));
    await expect.poll(() => proxy.egress.log.totals.failed).toBe(90);
    await expect.poll(() => server.connections.size).toBe(10);
    client.destroy();
    await expect.poll(() => server.connections.size).toBe(0);
    await proxy.tunnel(`127.0.0.1:${server.port}`);
  });

  test.each([
    ["relative", "GET /path HTTP/1.1\r\nHost: a.example\r\n\r\n", 400],
    ["with an address in its query", "GET /?to=http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", 400],
    ["with a name and password", "GET http://me:secret@a.example/ HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["without a host", "GET http:///path HTTP/1.1\r\nHost: a.example\r\n\r\n", 400],
    [
      "with two lengths",
      "POST http://a.example/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      400,
    ],
    [
      "with a length and chunks",
      "POST http://a.example/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    ["with a header of 20 kB", `GET http://a.example/ HTTP/1.1\r\nA: ${"a".repeat(20_000)}\r\n\r\n`, 400],
    ["that is no HTTP", "\x16\x03\x01\x02\x00\x01\x00", 400],
    ["of SOCKS4", "\x04\x01\x00\x50\x01\x01\x01\x01\x00", 400],
    ["to tunnel without a port", "CONNECT a.example HTTP/1.1\r\n\r\n", 400],
    ["to tunnel to port 0", "CONNECT a.example:0 HTTP/1.1\r\n\r\n", 400],
    ["to tunnel to a path", "CONNECT a.example/x:443 HTTP/1.1\r\n\r\n", 400],
    ["for a name without an address", "CONNECT a.example:443 HTTP/1.1\r\n\r\n", 502],
  ])("%s is refused", async (_, bytes, status) => {
    await using proxy = await EgressProxy.start({ resolve: async () => [] });
    const answer = await proxy.say(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).not.toContain("secret");
  });
});
