import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { text as allText } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readConnectRequest, readGreeting, SocksProblem } from "../src/egress/socks-messages.js";
import { EgressProxy, patterns, read, tcpServer, text } from "./support/egress-proxy.js";

const echo = (socket: Socket): void => {
  socket.pipe(socket);
};

/** A request that goes through a SOCKS5 proxy, as a client spells it. */
const socks = (host: string | readonly number[], port: number, command = 1): Buffer => {
  const address =
    typeof host === "string"
      ? [3, host.length, ...Buffer.from(host, "latin1")]
      : [host.length === 4 ? 1 : 4, ...host];
  return Buffer.from([5, 1, 0, 5, command, 0, ...address, port >> 8, port & 255]);
};

/** Says nothing, and goes when its client does. */
const silent = (socket: Socket): void => {
  socket.resume().once("end", () => socket.end());
};

describe("a tunnel", () => {
  test("carries bytes both ways, also those that came with the request, until both have ended", async () => {
    const greeting = "hello before anything is asked";
    await using server = await tcpServer((socket) => {
      socket.write(greeting);
      socket.once("end", () => socket.end("the last word"));
      socket.resume();
    });
    await using proxy = await EgressProxy.start({ allowPrivate: [`127.0.0.1:${server.port}`] });
    const client = await proxy.connect();
    client.write(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\nat once`);
    client.end(" and later");
    expect(await text(client)).toBe(`HTTP/1.1 200 Connection established\r\n\r\n${greeting}the last word`);
    await expect
      .poll(() => proxy.egress.log.totals)
      .toEqual({
        allowed: 1,
        refused: 0,
        failed: 0,
        dropped: 0,
        bytesSent: "at once and later".length,
        bytesReceived: greeting.length + "the last word".length,
      });
    expect(proxy.egress.log.entries).toMatchObject([
      { protocol: "connect", host: "127.0.0.1", port: server.port, address: "127.0.0.1", isOpen: false },
    ]);
  });

  test("takes no more from a server than its client reads", async () => {
    await using server = await tcpServer((socket) => {
      const chunk = Buffer.alloc(65_536);
      const fill = (): void => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on("drain", fill);
      fill();
    });
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"] });
    const client = await proxy.tunnel(`127.0.0.1:${server.port}`);
    client.pause();
    const taken = (): number => proxy.egress.log.totals.bytesReceived;
    let before = -1;
    await expect
      .poll(
        () => {
          const isSame = taken() === before && before > 0;
          before = taken();
          return isSame;
        },
        { interval: 100, timeout: 10_000 },
      )
      .toBe(true);
    expect(taken()).toBeLessThan(8 * 1024 * 1024);
  });

  test("ends when the sandbox does, and nothing more is accepted", async () => {
    await using server = await tcpServer(echo);
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"] });
    const clients = await Promise.all(
      Array.from({ length: 5 }, () => proxy.tunnel(`127.0.0.1:${server.port}`)),
    );
    expect(server.connections.size).toBe(5);
    proxy.gateway.close("sandbox");
    for (const client of clients) expect(await text(client)).toBe("");
    await expect.poll(() => server.connections.size).toBe(0);
    expect(await proxy.say("GET http://a.example/ HTTP/1.1\r\n\r\n")).toBe("");
  });

  test("is closed when nothing goes over it", async () => {
    await using server = await tcpServer(echo);
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"], limits: { idleMs: 100 } });
    const client = await proxy.tunnel(`127.0.0.1:${server.port}`);
    expect(await text(client)).toBe("");
    await expect.poll(() => server.connections.size).toBe(0);
  });

  test("that asks for nothing is closed", async () => {
    await using proxy = await EgressProxy.start({ limits: { greetingMs: 100 } });
    expect(await text(await proxy.connect())).toBe("");
    expect(await proxy.say("GET http://a.ex")).toMatch(/^(HTTP\/1.1 400 |$)/);
    expect(await proxy.say(Buffer.from([5, 1]))).toBe("");
  });

  test("beyond the limit of one sandbox is refused unread, and others have theirs", async () => {
    await using server = await tcpServer(echo);
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"], limits: { connections: 10 } });
    const neighbour = proxy.gateway.open("neighbour");
    proxy.gateway.setRules("neighbour", { internetAccess: true });
    const kept = await Promise.all(
      Array.from({ length: 10 }, () => proxy.tunnel(`127.0.0.1:${server.port}`)),
    );
    const more = await Promise.all(Array.from({ length: 500 }, () => proxy.connect()));
    for (const client of more) expect(await text(client)).toBe("");
    expect(proxy.egress.log.totals).toMatchObject({ allowed: 10, dropped: 500 });
    await using theirs = await tcpServer((socket) => neighbour.accept(socket));
    const { connect } = await import("node:net");
    const client = connect({ host: "127.0.0.1", port: theirs.port, allowHalfOpen: true });
    client.write(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\n`);
    expect(String(await read(client))).toMatch(/^HTTP\/1.1 200 /);
    client.destroy();
    kept[0]?.write("still here");
    expect(String(await read(kept[0] as Socket))).toBe("still here");
  });
});

describe("a plain request", () => {
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

  test("arrives without what is between the program and the proxy, under the host that was checked", async () => {
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
        "X-Dropped: 1",
        "X-Kept: 1",
        "X-Kept: 2",
        "Transfer-Encoding: chunked",
        "",
        "3\r\nabc\r\n0\r\n\r\n",
      ].join("\r\n"),
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(answer).toContain("x-yours: 2");
    expect(answer).not.toContain("x-mine");
    expect(answer).not.toContain("timeout=9");
    expect(answer).toContain("you asked for /a/../b?c=d");
    const [{ head, body } = expect.fail("it did not arrive")] = server.seen;
    expect(head).toMatchObject({ method: "POST", url: "/a/../b?c=d" });
    expect(body).toBe("abc");
    expect(head.headers).toEqual({
      host: target,
      connection: "close",
      "x-kept": "1, 2",
      "transfer-encoding": "chunked",
    });
    expect(JSON.stringify(proxy.egress.log.entries)).not.toMatch(/c=d|c2VjcmV0|secret/);
  });

  test("on a connection that stays open is decided anew each time", async () => {
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
      while (!/\r\n\r\n.+/s.test(answer)) answer += await read(client);
      return answer;
    };
    expect(await ask("/first")).toContain("you asked for /first");
    // The name was resolved once for it: what was checked is what was connected to.
    expect(lookups).toBe(1);
    expect(await ask("/second")).toMatch(/^HTTP\/1.1 403 .*not on the public internet/);
    expect(elsewhere.connections.size).toBe(0);
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    ["with a status line that cannot be passed on", "HTTP/1.1 200 \x01\r\nContent-Length: 0\r\n\r\n"],
    ["with a status that is none", "HTTP/1.1 001 OK\r\nContent-Length: 0\r\n\r\n"],
    ["with another protocol", "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nmore"],
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

  test("after another that was not answered yet counts as a connection", async () => {
    await using server = await tcpServer(silent);
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"], limits: { connections: 10 } });
    const client = await proxy.connect();
    client.write(`GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(100));
    await expect.poll(() => proxy.egress.log.totals.failed).toBe(90);
    expect(server.connections.size).toBe(10);
    client.destroy();
    await expect.poll(() => server.connections.size).toBe(0);
    await proxy.tunnel(`127.0.0.1:${server.port}`);
  });

  test.each([
    ["relative", "GET /path HTTP/1.1\r\nHost: a.example\r\n\r\n", 400],
    ["for https", "GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", 400],
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

describe("what is not of the public internet", () => {
  const names: Readonly<Record<string, readonly string[]>> = {
    "private.example": ["10.0.0.1"],
    "mixed.example": ["1.1.1.1", "127.0.0.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "nat64.example": ["64:ff9b::7f00:1"],
    "metadata.example": ["169.254.169.254"],
    "odd.example": ["no address"],
  };

  test.for([
    ...Object.keys(names),
    "localhost",
    "LOCALHOST.",
    "a.localhost",
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "169.254.169.254",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[fd00::1]",
    "[fe80::1]",
    "0.0.0.0",
  ])("%s is refused over every protocol", async (host) => {
    await using proxy = await EgressProxy.start({
      // The real one answers for localhost without asking anybody.
      ...(host.toLowerCase().includes("localhost") ? {} : { resolve: async (name) => names[name] ?? [] }),
    });
    const reason = /^HTTP\/1.1 403 .*not on the public internet.*--egress-allow-private/;
    expect(await proxy.say(`CONNECT ${host}:443 HTTP/1.1\r\n\r\n`)).toMatch(reason);
    expect(await proxy.say(`GET http://${host}/ HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(reason);
    const named = socks(host.replace(/^\[|\]$/g, ""), 443);
    expect(Buffer.from(await proxy.say(named), "latin1").subarray(0, 4)).toEqual(Buffer.from([5, 0, 5, 2]));
    expect(proxy.egress.log.totals).toMatchObject({ allowed: 0, refused: 3 });
  });
});

test("without internet access everything is refused, before any name is looked up, with what to do", async () => {
  let lookups = 0;
  await using proxy = await EgressProxy.start({
    rules: { internetAccess: false },
    resolve: async () => {
      lookups += 1;
      return ["1.1.1.1"];
    },
  });
  expect(await proxy.say("CONNECT pypi.org:443 HTTP/1.1\r\n\r\n")).toMatch(
    /^HTTP\/1.1 403 This sandbox has no internet access. Create one with internet_access: true.\r\n/,
  );
  expect(await proxy.say("GET http://pypi.org/ HTTP/1.1\r\nHost: x\r\n\r\n")).toMatch(
    /internet_access: true/,
  );
  expect(lookups).toBe(0);
});

test("a list is held over the proxy, too, and refuses before any name is looked up", async () => {
  const asked: string[] = [];
  await using server = await tcpServer(echo);
  await using proxy = await EgressProxy.start({
    allowPrivate: ["127.0.0.1"],
    rules: { internetAccess: true, allow: patterns("*.good.example"), deny: patterns("bad.good.example") },
    resolve: async (name) => {
      asked.push(name);
      return ["127.0.0.1"];
    },
  });
  const answer = (host: string): Promise<string> =>
    proxy.say(`CONNECT ${host}:${server.port} HTTP/1.1\r\n\r\n`);
  expect(await answer("other.example")).toMatch(/^HTTP\/1.1 403 .*egress.allow/);
  expect(await answer("bad.good.example")).toMatch(/^HTTP\/1.1 403 .*egress.deny/);
  await proxy.tunnel(`a.good.example:${server.port}`);
  expect(asked).toEqual(["a.good.example"]);
});

describe("behind another proxy", () => {
  test("everything goes through that, by name, and what is known to be private is still refused", async () => {
    const asked: string[] = [];
    await using upstream = await tcpServer((socket) => {
      socket.once("data", (request) => {
        asked.push(String(request));
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        echo(socket);
      });
    });
    await using proxy = await EgressProxy.start({
      upstreamProxy: new URL(`http://me:pass%20word@127.0.0.1:${upstream.port}`),
      resolve: async (name) => (name === "private.example" ? ["10.0.0.1"] : []),
    });
    const client = await proxy.tunnel("unknown.example:443");
    client.write("hello");
    expect(String(await read(client))).toBe("hello");
    const credentials = Buffer.from("me:pass word").toString("base64");
    expect(asked).toEqual([expect.stringMatching(/^CONNECT unknown.example:443 HTTP/)]);
    expect(asked[0]?.toLowerCase()).toContain(`proxy-authorization: basic ${credentials.toLowerCase()}`);
    expect(await proxy.say("CONNECT private.example:443 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1.1 403 /);
    expect(JSON.stringify(proxy.egress.log.entries)).not.toContain("pass");
  });

  test("its refusal is told", async () => {
    await using upstream = await tcpServer((socket) => {
      socket.end("HTTP/1.1 407 Who are you\r\n\r\n");
    });
    const upstreamProxy = new URL(`http://127.0.0.1:${upstream.port}`);
    await using proxy = await EgressProxy.start({ upstreamProxy, resolve: async () => [] });
    expect(await proxy.say("CONNECT a.example:443 HTTP/1.1\r\n\r\n")).toMatch(
      /^HTTP\/1.1 502 The upstream proxy of this machine refused a.example:443 \(407\)/,
    );
  });
});

describe("SOCKS5", () => {
  test.each([
    ["a name", "server.example"],
    ["an address", [127, 0, 0, 1]],
  ] as const)("connects to %s", async (_, host) => {
    await using server = await tcpServer(echo);
    await using proxy = await EgressProxy.start({
      allowPrivate: ["127.0.0.1"],
      resolve: async () => ["127.0.0.1"],
    });
    const client = await proxy.connect();
    client.end(Buffer.concat([socks(host, server.port), Buffer.from("with it")]));
    expect(await text(client)).toBe("\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00with it");
    expect(proxy.egress.log.entries).toMatchObject([{ protocol: "socks5", decision: "allowed" }]);
  });

  test.each([
    ["only a password", Buffer.from([5, 1, 2]), /^05ff$/],
    ["no method", Buffer.from([5, 0]), /^05ff$/],
    ["BIND", socks("a.example", 80, 2), /^05000507/],
    ["UDP", socks("a.example", 80, 3), /^05000507/],
    ["an unknown kind of address", Buffer.from([5, 1, 0, 5, 1, 0, 9, 0, 0]), /^05000508/],
    ["another version later", Buffer.from([5, 1, 0, 4, 1, 0, 1]), /^05000501/],
    ["an empty name", socks("", 80), /^05000501/],
    ["a name with a slash", socks("a/b", 80), /^05000501/],
    ["port 0", socks("a.example", 0), /^05000501/],
    ["a name without an address", socks("a.example", 80), /^05000504/],
  ])("refuses %s", async (_, bytes, answer) => {
    await using proxy = await EgressProxy.start({ resolve: async () => [] });
    expect(Buffer.from(await proxy.say(bytes), "latin1").toString("hex")).toMatch(answer);
  });

  test("is read the same in whatever pieces it comes, and to the byte", async () => {
    const address = fc.oneof(
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
      fc.string({ unit: fc.constantFrom(..."abc.-_0"), minLength: 1, maxLength: 255 }),
    );
    const property = fc.asyncProperty(
      address,
      fc.integer({ min: 0, max: 65_535 }),
      fc.array(fc.integer({ min: 1, max: 20 })),
      async (host, port, cuts) => {
        const rest = Buffer.from("what comes after");
        const bytes = Buffer.concat([socks(typeof host === "string" ? host : [...host], port), rest]);
        const source = new PassThrough();
        const read = readGreeting(source).then(async (isAccepted) => ({
          isAccepted,
          ...(await readConnectRequest(source)),
        }));
        let at = 0;
        for (const length of [...cuts, bytes.length]) {
          source.write(bytes.subarray(at, at + length));
          at += length;
          await new Promise((resolve) => setImmediate(resolve));
          if (at >= bytes.length) break;
        }
        source.end();
        const got = await read;
        expect(got).toMatchObject({ isAccepted: true, port });
        if (typeof host === "string") expect(got.host).toBe(host);
        if (typeof host !== "string" && host.length === 4) expect(got.host).toBe([...host].join("."));
        expect(await allText(source)).toBe(String(rest));
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  test("nothing that is sent does more than end the connection", async () => {
    await using proxy = await EgressProxy.start({ resolve: async () => [], limits: { greetingMs: 2000 } });
    const start = fc.constantFrom([], [5], [5, 1, 0], [5, 1, 0, 5, 1, 0], [5, 1, 0, 5, 1, 0, 3]);
    const property = fc.asyncProperty(start, fc.uint8Array({ maxLength: 300 }), async (prefix, bytes) => {
      const sent = Buffer.from([...prefix, ...bytes]);
      const source = new PassThrough();
      source.end(sent);
      const request = readGreeting(source).then(() => readConnectRequest(source));
      await request.catch((error: unknown) => expect(error).toBeInstanceOf(SocksProblem));
      const client = await proxy.connect();
      client.end(sent);
      await text(client);
    });
    await fc.assert(property, { numRuns: 200 });
    expect(await proxy.say("CONNECT a.example:443 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1.1 502 /);
  });
});
