import { PassThrough } from "node:stream";
import { text as allText } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readConnectRequest, readGreeting, SocksProblem } from "../../src/egress/socks-messages.js";
import { EgressProxy, echo, socks, tcpServer, text } from "../support/egress-proxy.js";

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

  test("reads a request however it is cut into chunks, and not a byte more", async () => {
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
        if (typeof host !== "string" && host.length === 16)
          expect(got.host).toMatch(/^([0-9a-f]{4}:){7}[0-9a-f]{4}$/);
        if (typeof host !== "string" && host.length === 16)
          expect(got.host.replaceAll(":", "")).toBe(Buffer.from(host).toString("hex"));
        expect(await allText(source)).toBe(String(rest));
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  test("ends the connection after random bytes, and does nothing else", async () => {
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
