import type { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { EgressProxy, echo, patterns, read, socks, tcpServer, text } from "../support/egress-proxy.js";

describe("a tunnel through the egress proxy", () => {
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
    await expect
      .poll(() => proxy.egress.log.entries)
      .toMatchObject([
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
        { interval: 100 },
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
    await expect.poll(() => server.connections.size).toBe(5);
    proxy.gateway.close(proxy.egress);
    for (const client of clients) expect(await text(client)).toBe("");
    await expect.poll(() => server.connections.size).toBe(0);
    expect(await proxy.say("GET http://a.example/ HTTP/1.1\r\n\r\n")).toBe("");
  });

  test("is closed when nothing is sent for too long", async () => {
    await using server = await tcpServer(echo);
    await using proxy = await EgressProxy.start({
      allowPrivate: ["127.0.0.1"],
      limits: { idleMs: 500, greetingMs: 600_000 },
    });
    const client = await proxy.tunnel(`127.0.0.1:${server.port}`);
    expect(await text(client)).toBe("");
    await expect.poll(() => server.connections.size).toBe(0);
  });

  test("whose client sends no request is closed", async () => {
    await using proxy = await EgressProxy.start({ limits: { greetingMs: 100 } });
    expect(await text(await proxy.connect())).toBe("");
    expect(await proxy.say("GET http://a.ex")).toMatch(/^(HTTP\/1.1 400 |$)/);
    expect(await proxy.say(Buffer.from([5, 1]))).toBe("");
  });

  test("that has ended makes room for another tunnel", async () => {
    await using proxy = await EgressProxy.start({ limits: { connections: 2 } });
    for (let count = 0; count < 5; count += 1) {
      const client = await proxy.connect();
      client.end();
      expect(await text(client)).toBe("");
      await expect.poll(() => proxy.openConnections()).toBe(0);
    }
    expect(proxy.egress.log.totals.dropped).toBe(0);
  });

  test.each([
    ["CONNECT", (port: number) => `CONNECT slow.example:${port} HTTP/1.1\r\n\r\n`],
    ["a request", (port: number) => `GET http://slow.example:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`],
    ["SOCKS5", (port: number) => socks("slow.example", port)],
  ])(
    "requested by %s is not opened if its client goes away while the name is looked up",
    async (_, asking) => {
      await using server = await tcpServer(echo);
      const found: ((addresses: string[]) => void)[] = [];
      await using proxy = await EgressProxy.start({
        allowPrivate: ["127.0.0.1"],
        resolve: () => new Promise((resolve) => found.push(resolve)),
        limits: { greetingMs: 200, idleMs: 200 },
      });
      const client = await proxy.connect();
      client.write(asking(server.port));
      await expect.poll(() => found).toHaveLength(1);
      await text(client);
      found[0]?.(["127.0.0.1"]);
      await expect.poll(() => proxy.egress.log.totals).toMatchObject({ allowed: 0, failed: 1 });
      expect(proxy.egress.log.entries).toMatchObject([{ reason: "The program closed its connection." }]);
    },
  );

  test.each([
    [
      "CONNECT",
      "CONNECT a.example:443 HTTP/1.1\r\n\r\n",
      "HTTP/1.1 429 This sandbox has reached its limit of 2 open connections. Close some.\r\n",
    ],
    [
      "HTTP",
      "GET http://a.example/ HTTP/1.1\r\nHost: x\r\n\r\n",
      "HTTP/1.1 429 This sandbox has reached its limit of 2 open connections. Close some.\r\n",
    ],
    ["SOCKS5", socks("a.example", 443), String.fromCharCode(5, 0, 5, 1)],
  ])("beyond the limit is refused in its protocol, %s, and in the log", async (_, greeting, refusal) => {
    await using server = await tcpServer(echo);
    await using proxy = await EgressProxy.start({ allowPrivate: ["127.0.0.1"], limits: { connections: 2 } });
    const kept = [await proxy.tunnel(`127.0.0.1:${server.port}`), await proxy.connect()];
    await expect.poll(() => proxy.egress.open).toBe(3);
    const beyond = await proxy.connect();
    beyond.write(greeting);
    expect((await text(beyond)).startsWith(refusal)).toBe(true);
    expect(proxy.egress.log.entries.at(-1)).toMatchObject({
      host: "a.example",
      decision: "failed",
      reason: "This sandbox has reached its limit of 2 open connections. Close some.",
    });
    expect(proxy.egress.log.totals).toMatchObject({ failed: 1, dropped: 0 });
    for (const client of [...kept, beyond]) client.destroy();
    await expect.poll(() => proxy.egress.open).toBe(0);
    await proxy.tunnel(`127.0.0.1:${server.port}`);
  });

  test("far beyond the limit of one sandbox is closed unread, and other sandboxes still get theirs", async () => {
    await using server = await tcpServer(echo);
    await using proxy = await EgressProxy.start({
      allowPrivate: ["127.0.0.1"],
      // The 10 that are refused stay open: none takes the place of another.
      limits: { connections: 10, greetingMs: 60_000 },
    });
    const neighbour = proxy.gateway.open("neighbour");
    proxy.gateway.setRules("neighbour", { internetAccess: true });
    const kept = await Promise.all(
      Array.from({ length: 10 }, () => proxy.tunnel(`127.0.0.1:${server.port}`)),
    );
    const more = await Promise.all(Array.from({ length: 500 }, () => proxy.connect()));
    for (const client of more) client.resume();
    const closed = () => more.filter(({ readableEnded, bytesRead }) => readableEnded && bytesRead === 0);
    await expect.poll(() => closed().length).toBe(490);
    expect(proxy.egress.log.totals).toMatchObject({ allowed: 10, dropped: 490 });
    await using theirs = await tcpServer((socket) => neighbour.accept(socket));
    const { connect } = await import("node:net");
    const client = connect({ host: "127.0.0.1", port: theirs.port, allowHalfOpen: true });
    client.write(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\n`);
    expect(String(await read(client))).toMatch(/^HTTP\/1.1 200 /);
    client.destroy();
    kept[0]?.write("still here");
    expect(String(await read(kept[0] as Socket))).toBe("still here");
    for (const left of more) left.destroy();
  });
});

test("a sandbox reaches nothing until its rules are set, and nothing is known of one that does not exist", async () => {
  await using proxy = await EgressProxy.start();
  proxy.gateway.setRules("nobody", { internetAccess: true });
  expect(proxy.gateway.log("nobody").entries).toEqual([]);
  const egress = proxy.gateway.open("new");
  await using theirs = await tcpServer((socket) => egress.accept(socket));
  const { connect } = await import("node:net");
  const client = connect({ host: "127.0.0.1", port: theirs.port });
  client.write("CONNECT 1.1.1.1:443 HTTP/1.1\r\n\r\n");
  expect(await text(client)).toMatch(/^HTTP\/1\.1 403 /);
  expect(proxy.gateway.log("new").entries).toMatchObject([{ host: "1.1.1.1", decision: "refused" }]);
  proxy.gateway.close(egress);
});

describe("a destination that is not on the public internet", () => {
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
      // Use the real resolver for localhost: it answers without asking a name server.
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

test("without internet access every destination is refused before its name is looked up, with what to do", async () => {
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

test("a list is applied to requests over the proxy too, and refuses before a name is looked up", async () => {
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

test.each(["bad.example", "a.worse.example"])(
  "%s is refused although dots were added to its end",
  async (name) => {
    await using server = await tcpServer(echo);
    const denied = patterns("bad.example", "*.worse.example");
    await using proxy = await EgressProxy.start({
      allowPrivate: ["127.0.0.1"],
      rules: { internetAccess: true, deny: denied },
      resolve: async () => ["127.0.0.1"],
    });
    const answer = (host: string): Promise<string> =>
      proxy.say(`CONNECT ${host}:${server.port} HTTP/1.1\r\n\r\n`);
    expect(await answer(`${name}.`)).toMatch(/^HTTP\/1.1 403 .*egress.deny/);
    expect(await answer(`${name}..`)).toMatch(/^HTTP\/1.1 400 /);
    expect(await proxy.say(`GET http://${name}..:${server.port}/ HTTP/1.1\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 400 /,
    );
    const named = Buffer.from(await proxy.say(socks(`${name}..`, server.port)), "latin1");
    expect(named.subarray(0, 4)).toEqual(Buffer.from([5, 0, 5, 1]));
    expect(server.connections.size).toBe(0);
  },
);

test.each([
  ["CONNECT", "CONNECT a.example:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 502 "],
  ["SOCKS5", socks("a.example", 443), String.fromCharCode(5, 0, 5, 4)],
])("a host that takes longer than a greeting may is an answer over %s", async (_, greeting, expected) => {
  await using proxy = await EgressProxy.start({
    limits: { greetingMs: 50 },
    resolve: async () => {
      await setTimeout(200);
      return [];
    },
  });
  expect((await proxy.say(greeting)).startsWith(expected)).toBe(true);
});

describe("with an upstream proxy", () => {
  test("everything goes through it, by name, and private destinations that are known are still refused", async () => {
    const asked: string[] = [];
    await using upstream = await tcpServer((socket) => {
      socket.once("data", (request) => {
        asked.push(String(request));
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        echo(socket);
      });
    });
    await using proxy = await EgressProxy.start({
      upstreamProxy: `http://me:pass%20word@127.0.0.1:${upstream.port}`,
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

  test("plain requests are sent to it as they are, with its password and not the program's", async () => {
    const asked: string[] = [];
    await using upstream = await tcpServer((socket) => {
      socket.once("data", (request) => {
        asked.push(String(request));
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
      });
    });
    await using proxy = await EgressProxy.start({
      upstreamProxy: `http://me:word@127.0.0.1:${upstream.port}`,
      resolve: async () => [],
    });
    const head = "Host: other.example\r\nProxy-Authorization: Basic eA==\r\nConnection: close\r\n\r\n";
    expect(await proxy.say(`GET http://A.example/page?q=1 HTTP/1.1\r\n${head}`)).toMatch(
      /^HTTP\/1.1 200 OK[\s\S]*hi$/,
    );
    const [sent = ""] = asked;
    expect(sent).toMatch(/^GET http:\/\/a\.example:80\/page\?q=1 HTTP\/1\.1\r\n/);
    expect(sent.match(/^proxy-authorization: .*$/gim)).toEqual([
      expect.stringMatching(new RegExp(`Basic ${Buffer.from("me:word").toString("base64")}`)),
    ]);
    expect(sent).not.toContain("other.example");
  });

  test.each(["GET http://a.example/ HTTP/1.1\r\nHost: a.example", "CONNECT a.example:443 HTTP/1.1"])(
    "that wants a password is named in the answer to %j, and the program is not asked for it",
    async (request) => {
      await using upstream = await tcpServer((socket) => {
        socket.once("data", () =>
          socket.end(
            "HTTP/1.1 407 Sign in\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n",
          ),
        );
      });
      const upstreamProxy = `http://127.0.0.1:${upstream.port}`;
      await using proxy = await EgressProxy.start({ upstreamProxy, resolve: async () => [] });
      const answer = await proxy.say(`${request}\r\n\r\n`);
      expect(answer).toMatch(
        /^HTTP\/1.1 502 The upstream proxy of this machine wants a user name and password \(407\)/,
      );
      expect(answer).not.toMatch(/proxy-authenticate/i);
    },
  );

  test.each([
    ["", "closed the connection before it answered"],
    ["hello\r\n\r\n", "did not answer in HTTP"],
    ["HTTP/1.1 101 Switching\r\n\r\n", "did not answer in HTTP"],
  ])("it is named, not the server, if it answers a plain request with %j", async (said, problem) => {
    await using upstream = await tcpServer((socket) => void socket.once("data", () => socket.end(said)));
    const upstreamProxy = `http://127.0.0.1:${upstream.port}`;
    await using proxy = await EgressProxy.start({ upstreamProxy, resolve: async () => [] });
    const answer = await proxy.say("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n");
    expect(answer).toContain(`HTTP/1.1 502 The upstream proxy of this machine ${problem}.`);
  });

  test("its refusal is reported", async () => {
    await using upstream = await tcpServer((socket) => {
      socket.end("HTTP/1.1 403 Not you\r\n\r\n");
    });
    const upstreamProxy = `http://127.0.0.1:${upstream.port}`;
    await using proxy = await EgressProxy.start({ upstreamProxy, resolve: async () => [] });
    expect(await proxy.say("CONNECT a.example:443 HTTP/1.1\r\n\r\n")).toMatch(
      /^HTTP\/1.1 502 The upstream proxy of this machine refused a.example:443 \(403\)\./,
    );
  });
});
