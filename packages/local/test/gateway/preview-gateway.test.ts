import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { sandboxPaused } from "@cloud-sandbox/server-kit/handlers";
import { describe, expect, test } from "vitest";
import { GatewayRig, received, sandboxId, switched, tokenFor, upgradeHead } from "../support/gateway-rig.js";

const get = (target: string, ...headers: readonly string[]): string =>
  [`GET ${target} HTTP/1.1`, "Host: localhost:99", "Connection: close", ...headers, "", ""].join("\r\n");

const preview = (port: number | string, rest = "/"): string => `/preview/${sandboxId}/${port}${rest}`;

/**
 * A gateway with an agent that relays to `serve`, which gets the connection and the head of each request to the port.
 * `connects` are the requests to the agent to open a port.
 */
async function relaying(serve: (socket: Socket, head: string) => void) {
  const connects: string[] = [];
  const heads: string[] = [];
  const rig = await GatewayRig.start((socket, head) => {
    connects.push(head);
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    socket.once("data", (bytes) => {
      heads.push(bytes.toString("latin1"));
      serve(socket, bytes.toString("latin1"));
    });
  });
  return { rig, connects, heads };
}

const ok = (socket: Socket): void => {
  socket.end("HTTP/1.1 200 OK\r\nX-Theirs: 1\r\nContent-Length: 2\r\n\r\nok");
};

describe("a preview", () => {
  test("is answered by the server on the port, which the agent is asked for with a token of ours", async () => {
    const { rig, connects, heads } = await relaying(ok);
    await using _ = rig;
    const answer = await text(rig.open(get(preview(3000, "/a?b=c"), "X-Mine: 1")));
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\nx-theirs: 1\r\n[\s\S]*\r\n\r\nok$/i);
    expect(connects).toHaveLength(1);
    expect(connects[0]).toMatch(/^CONNECT 127\.0\.0\.1:3000 HTTP\/1\.1\r\n/);
    expect(connects[0]).toContain(`Bearer ${tokenFor(sandboxId)}`);
    expect(heads[0]).toMatch(/^GET \/a\?b=c HTTP\/1\.1\r\n[\s\S]*x-mine: 1\r\n/i);
    expect(heads[0]).not.toMatch(/^upgrade:/im);
  });

  test("passes on any method, with its body", async () => {
    const { rig, heads } = await relaying((socket, head) => {
      if (/\r\n\r\n.*hello/s.test(head)) return ok(socket);
      socket.once("data", () => ok(socket));
    });
    await using _ = rig;
    const request = get(preview(3000), "Content-Length: 5").replace("GET", "PUT");
    expect(await text(rig.open(`${request}hello`))).toMatch(/ok$/);
    expect(heads[0]).toMatch(/^PUT \/ HTTP\/1\.1\r\n/);
    expect(heads[0]).toMatch(/^content-length: 5\r$/im);
  });

  test("without a slash at the end of its path is passed on with one, and the connection stays open", async () => {
    const { rig, connects } = await relaying(ok);
    await using _ = rig;
    const post = `${get(preview(3000, "?a=b"), "Content-Length: 5").replace("Connection: close\r\n", "").replace("GET", "POST")}12345`;
    const client = rig.open(post);
    const got = received(client);
    await expect.poll(got).toMatch(/^HTTP\/1\.1 308 [\s\S]*\r\n\r\n$/);
    expect(got()).toContain(`location: ${preview(3000)}?a=b\r\n`);
    expect(got()).toMatch(/content-length: 0\r\n/i);
    client.write(post);
    await expect.poll(() => got().match(/HTTP\/1\.1 308 /g)).toHaveLength(2);
    expect(connects).toEqual([]);
  });

  test.each(["0", "65536", "x", "70000", "-1"])(
    "of port %s is refused, and the refusal shows the form of a URL",
    async (port) => {
      const { rig, connects } = await relaying(ok);
      await using _ = rig;
      const answer = await text(rig.open(get(preview(port))));
      expect(answer).toMatch(/^HTTP\/1\.1 404 [\s\S]*"code":"NOT_FOUND"/);
      expect(answer).toContain(`http://<port>-${sandboxId}.localhost:99/`);
      expect(answer).toContain(`/preview/${sandboxId}/<port>/`);
      expect(connects).toEqual([]);
    },
  );

  test.each(["1", "65535"])("of port %s is passed on", async (port) => {
    const { rig, connects } = await relaying(ok);
    await using _ = rig;
    expect(await text(rig.open(get(preview(port))))).toMatch(/^HTTP\/1\.1 200 /);
    expect(connects[0]).toContain(`CONNECT 127.0.0.1:${port} `);
  });

  test("of no port is refused with the form of a URL, without a port if the host names none", async () => {
    const { rig } = await relaying(ok);
    await using _ = rig;
    const answer = await text(rig.open(get(preview("x")).replace("localhost:99", "localhost")));
    expect(answer).toContain(`http://<port>-${sandboxId}.localhost/`);
  });

  test.each([
    [404, 404, "PORT_NOT_LISTENING", "port 3000"],
    [403, 403, "PORT_NOT_ALLOWED", "Port 3000"],
    [429, 429, "RESOURCE_EXHAUSTED", "Too many connections"],
    [500, 409, "AGENT_UNREADABLE", "not HTTP"],
    [201, 409, "AGENT_UNREADABLE", "not HTTP"],
  ])("that the agent answers with %i is refused with %i %s", async (said, status, code, message) => {
    await using rig = await GatewayRig.start((socket) => {
      socket.end(`HTTP/1.1 ${said} theirs\r\nContent-Length: 6\r\n\r\nsecret`);
    });
    const answer = await text(rig.open(get(preview(3000))));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*"code":"${code}"`));
    expect(answer).toContain(message);
    expect(answer).not.toContain("secret");
    expect(answer.includes('"port":3000')).toBe(code === "PORT_NOT_LISTENING");
  });

  test("of a server that is no web server is refused", async () => {
    const { rig } = await relaying((socket) => socket.end("hello\r\n\r\n"));
    await using _ = rig;
    const answer = await text(rig.open(get(preview(3000))));
    expect(answer).toMatch(/^HTTP\/1\.1 409 [\s\S]*"code":"PORT_UNREADABLE"/);
    expect(answer).toContain('"port":3000');
  });

  test("of a sandbox that does not run is refused, to a browser with a page", async () => {
    const { rig, connects } = await relaying(ok);
    await using _ = rig;
    rig.sandbox = () => {
      throw sandboxPaused(sandboxId);
    };
    expect(await text(rig.open(get(preview(3000))))).toMatch(/^HTTP\/1\.1 409 [\s\S]*"SANDBOX_PAUSED"/);
    const page = await text(rig.open(get(preview(3000), "Accept: text/html")));
    expect(page).toMatch(/^HTTP\/1\.1 409 [\s\S]*content-type: text\/html[\s\S]*SANDBOX_PAUSED/);
    expect(connects).toEqual([]);
  });

  test("of a sandbox that was paused and ended meanwhile says so", async () => {
    const { rig } = await relaying((socket) => {
      rig.sandbox = () => {
        throw sandboxPaused(sandboxId);
      };
      rig.exit();
      socket.destroy();
    });
    await using _ = rig;
    const answer = await text(rig.open(get(preview(3000))));
    expect(answer).toMatch(/^HTTP\/1\.1 409 [\s\S]*"code":"SANDBOX_PAUSED"/);
  });

  test("whose client goes away is broken off", async () => {
    let isClosed = false;
    const { rig, heads } = await relaying((socket) => {
      socket.resume().once("close", () => {
        isClosed = true;
      });
      socket.once("end", () => socket.end());
    });
    await using _ = rig;
    const client = rig.open(get(preview(3000)));
    await expect.poll(() => heads.length).toBe(1);
    client.destroy();
    await expect.poll(() => isClosed).toBe(true);
  });

  test("of a WebSocket carries bytes both ways", async () => {
    const { rig, heads } = await relaying((socket) => {
      socket.write(switched);
      socket.pipe(socket);
    });
    await using _ = rig;
    const client = rig.open(upgradeHead(preview(3000, "/live"), "Sec-WebSocket-Key: abc"));
    const got = received(client);
    await expect.poll(got).toMatch(/^HTTP\/1\.1 101 /);
    client.write("hello");
    await expect.poll(got).toMatch(/hello$/);
    expect(heads[0]).toMatch(/^GET \/live HTTP\/1\.1\r\n/);
    expect(heads[0]).toMatch(/^connection: upgrade\r$/im);
    expect(heads[0]).toMatch(/^upgrade: websocket\r$/im);
    expect(heads[0]).toMatch(/^sec-websocket-key: abc\r$/im);
  });
});
