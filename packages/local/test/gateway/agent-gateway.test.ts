import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { neverSleeps, sandboxEnded, sandboxPaused } from "@cloud-sandbox/server-kit/handlers";
import { describe, expect, test } from "vitest";
import { GatewayRig, received, sandboxId, switched, tokenFor, upgradeHead } from "../support/gateway-rig.js";

/** What is kept of a sandbox that has ended. */
const gone = { id: sandboxId, createdAt: new Date(0), expiresAt: new Date(0) };
const terminal = upgradeHead(`/agent/${sandboxId}/terminal`);

describe("a WebSocket to an agent", () => {
  test("carries bytes both ways, also those that were sent with the request or the answer", async () => {
    await using rig = await GatewayRig.start((socket) => {
      socket.write(`${switched}welcome,`);
      socket.pipe(socket);
    });
    const client = rig.open(`${terminal}early,`);
    const got = received(client);
    await expect.poll(got).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n[\s\S]*\r\n\r\nwelcome,early,$/);
    client.write("late");
    await expect.poll(got).toMatch(/late$/);
  });

  test.each([
    ["by path", `/agent/${sandboxId}/files/watch?x=1`, "/files/watch?x=1"],
    ["by its token", "/files/watch?x=1", "/files/watch?x=1"],
  ])("is found %s, and keeps the protocol that it asks for", async (_, target, asked) => {
    const heads: string[] = [];
    await using rig = await GatewayRig.start((socket, head) => {
      heads.push(head);
      socket.write(switched);
    });
    const token = tokenFor(sandboxId);
    const client = rig.open(
      upgradeHead(target, `Authorization: Bearer ${token}`, "Sec-WebSocket-Key: abc", "X-API-Key: account"),
    );
    await expect.poll(received(client)).toContain("101");
    expect(heads[0]?.split("\r\n")[0]).toBe(`GET ${asked} HTTP/1.1`);
    expect(heads[0]).toContain(token);
    expect(heads[0]).toMatch(/sec-websocket-key: abc/i);
    expect(heads[0]).not.toContain("account");
  });

  test("ends one direction at a time", async () => {
    await using rig = await GatewayRig.start((socket) => {
      socket.write(switched);
      socket.on("end", () => socket.end("the last word"));
    });
    const client = rig.open(terminal);
    const got = received(client);
    await expect.poll(got).toContain("101");
    client.end();
    await once(client, "end");
    expect(got()).toMatch(/the last word$/);
  });

  test.each(["agent", "client"])("ends when the %s breaks off", async (who) => {
    const sockets: Socket[] = [];
    await using rig = await GatewayRig.start((socket) => {
      sockets.push(socket);
      socket.resume().write(switched);
    });
    const client = rig.open(terminal);
    await expect.poll(received(client)).toContain("101");
    const [breaks, other] = who === "agent" ? [sockets[0], client] : [client, sockets[0]];
    breaks?.destroy();
    if (other?.closed === false) await once(other, "end");
  });

  test("is read no faster than the other side takes it", async () => {
    await using rig = await GatewayRig.start((socket) => {
      socket.pause().write(switched);
    });
    const client = rig.open(terminal);
    await expect.poll(received(client)).toContain("101");
    const chunk = Buffer.alloc(64 * 1024);
    let sent = 0;
    while (sent < 64 * 1024 * 1024) {
      sent += chunk.length;
      if (client.write(chunk)) continue;
      const drained = once(client, "drain").then(() => true);
      const waited = new Promise<false>((resolve) => setTimeout(() => resolve(false), 500));
      if (!(await Promise.race([drained, waited]))) break;
    }
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test("that the agent refuses gets the agent's answer", async () => {
    await using rig = await GatewayRig.start((socket) => {
      socket.end("HTTP/1.1 401 Unauthorized\r\nX-Request-ID: req_1\r\nContent-Length: 2\r\n\r\nno");
    });
    const answer = await text(rig.open(terminal));
    expect(answer).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\nx-request-id: req_1\r\n[\s\S]*\r\n\r\nno$/i);
  });

  test.each([
    [409, "SANDBOX_PAUSED", sandboxPaused(sandboxId)],
    [404, "SANDBOX_NOT_FOUND", sandboxEnded({ ...gone, end: "deleted" })],
    [410, "SANDBOX_EXPIRED", sandboxEnded({ ...gone, end: "expired" })],
  ])("to a sandbox that does not run is refused at once: %i %s", async (status, code, problem) => {
    await using rig = await GatewayRig.start((socket) => socket.end(switched));
    rig.sandbox = () => {
      throw problem;
    };
    const answer = await text(rig.open(`${terminal}bytes that nobody reads`));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*"code":"${code}"`));
  });

  test("at the root needs a token", async () => {
    await using rig = await GatewayRig.start((socket) => socket.end(switched));
    expect(await text(rig.open(upgradeHead("/terminal")))).toMatch(
      /^HTTP\/1\.1 401 [\s\S]*www-authenticate: Bearer\r\n[\s\S]*public_host/i,
    );
  });

  test.each([
    ["never ends its head", (socket: Socket) => flood(socket, "HTTP/1.1 101 x\r\nx: "), "AGENT_UNREADABLE"],
    ["does not speak HTTP", (socket: Socket) => socket.end("hello\r\n\r\n"), "AGENT_UNREADABLE"],
    ["hangs up", (socket: Socket) => socket.destroy(), "EXECUTION_INTERRUPTED"],
  ])("to an agent that %s is refused", async (_, serve, code) => {
    await using rig = await GatewayRig.start(serve);
    expect(await text(rig.open(terminal))).toMatch(new RegExp(`^HTTP/1\\.1 409 [\\s\\S]*"code":"${code}"`));
  });
});

describe("a switch of protocols that the client has not asked for", () => {
  const bare =
    "HTTP/1.1 101 Switching Protocols\r\nX-Theirs: 1\r\n\r\nHTTP/1.1 200 OK\r\nX-Smuggled: 1\r\n\r\n";
  const other = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n";
  const get = (target: string): string =>
    `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  const agent = `/agent/${sandboxId}/ping`;
  const preview = `/preview/${sandboxId}/3000/`;

  test.each([
    ["of an agent, to a plain request", get(agent), switched, "AGENT_UNREADABLE"],
    ["of an agent, which names no protocol", get(agent), bare, "AGENT_UNREADABLE"],
    ["of an agent, to another protocol", upgradeHead(agent), other, "AGENT_UNREADABLE"],
    ["of an agent, to none where one was asked for", upgradeHead(agent), bare, "AGENT_UNREADABLE"],
    ["of a preview, to a plain request", get(preview), switched, "PORT_UNREADABLE"],
    ["of a preview, which names no protocol", get(preview), bare, "PORT_UNREADABLE"],
    ["of a preview, to another protocol", upgradeHead(preview), other, "PORT_UNREADABLE"],
    ["of a preview, to none where one was asked for", upgradeHead(preview), bare, "PORT_UNREADABLE"],
  ])("%s is refused", async (_, request, answer, code) => {
    await using rig = await GatewayRig.start((socket, head) => {
      if (!head.startsWith("CONNECT")) return void socket.write(answer);
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.once("data", () => socket.write(answer));
    });
    const got = await text(rig.open(request));
    expect(got).toMatch(new RegExp(`^HTTP/1\\.1 409 [\\s\\S]*"code":"${code}"`));
    expect(got).not.toMatch(/ 101 |x-theirs|x-smuggled/i);
  });

  test.each([
    ["early hints", "HTTP/1.1 103 Early Hints\r\nLink: </theirs>\r\n\r\n".repeat(100)],
    ["a request to go on", "HTTP/1.1 100 Continue\r\n\r\n"],
    ["what is not known yet", "HTTP/1.1 199 Theirs\r\nX-Theirs: 1\r\n\r\n"],
  ])("is not %s before the answer, which is not passed on", async (_, before) => {
    await using rig = await GatewayRig.start((socket) =>
      socket.end(`${before}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`),
    );
    const got = await text(rig.open(get(agent)));
    expect(got).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*ok$/);
    expect(got).not.toMatch(/theirs/i);
  });
});

test.each([
  ["a length and pieces", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["two lengths", "Content-Length: 4\r\nContent-Length: 2\r\n\r\nokok"],
  ["a length that is none", "Content-Length: -1\r\n\r\nok"],
  ["a header with a line break", "X-Theirs: a\rb: c\r\n\r\nok"],
  ["a name with a space", "X Theirs: 1\r\n\r\nok"],
])("an answer with %s is not passed on", async (_, rest) => {
  await using rig = await GatewayRig.start((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`));
  const got = await text(
    rig.open(`GET /agent/${sandboxId}/ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
  );
  expect(got).toMatch(/^HTTP\/1\.1 409 [\s\S]*"code":"AGENT_UNREADABLE"/);
});

describe("an answer that is longer than any that an agent sends", () => {
  const ping = `GET /agent/${sandboxId}/ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;

  test("is refused if its Content-Length says so", async () => {
    await using rig = await GatewayRig.start((socket) => {
      flood(socket, `HTTP/1.1 200 OK\r\nContent-Length: ${9 * 1024 * 1024}\r\n\r\n`);
    });
    expect(await text(rig.open(ping))).toMatch(
      /^HTTP\/1\.1 409 [\s\S]*8 MiB[\s\S]*"code":"AGENT_UNREADABLE"/,
    );
  });

  test("is broken off if it has no Content-Length", async () => {
    await using rig = await GatewayRig.start((socket) => flood(socket, "HTTP/1.1 200 OK\r\n\r\n"));
    const client = rig.open(ping).resume();
    await expect.poll(() => client.readableEnded || client.destroyed).toBe(true);
    expect(client.bytesRead).toBeGreaterThan(7 * 1024 * 1024);
    expect(client.bytesRead).toBeLessThan(10 * 1024 * 1024);
  });

  test.each([0, 1])("is refused from %i bytes beyond the limit on", async (beyond) => {
    const bytes = 8 * 1024 * 1024 + beyond;
    await using rig = await GatewayRig.start((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${"x".repeat(bytes)}`),
    );
    const got = await text(rig.open(ping));
    if (beyond > 0) expect(got).toMatch(/^HTTP\/1\.1 409 [\s\S]*Delete the sandbox and create a new one/);
    else expect(got.length).toBeGreaterThan(bytes);
  });

  test("may be longer if it is a file", async () => {
    const bytes = 9 * 1024 * 1024;
    await using rig = await GatewayRig.start((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${"x".repeat(bytes)}`),
    );
    const got = await text(rig.open(ping.replace("/ping", "/files/download?path=a")));
    expect(got.length).toBeGreaterThan(bytes);
  });
});

describe("a call to an agent", () => {
  const get = `GET /agent/${sandboxId}/ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;

  test("is given up when its caller goes before the answer", async () => {
    const calls: Socket[] = [];
    await using rig = await GatewayRig.start((socket) => calls.push(socket));
    const client = rig.open(get);
    await expect.poll(() => calls).toHaveLength(1);
    client.destroy();
    await expect.poll(() => calls[0]?.destroyed || calls[0]?.readableEnded).toBe(true);
  });

  test("is given up when its caller goes in the middle of the body", async () => {
    const calls: Socket[] = [];
    await using rig = await GatewayRig.start((socket) => calls.push(socket.resume()));
    const client = rig.open(`${get.replace("GET", "POST").slice(0, -2)}Content-Length: 100\r\n\r\na part`);
    await expect.poll(() => calls).toHaveLength(1);
    client.destroy();
    await expect.poll(() => calls[0]?.destroyed || calls[0]?.readableEnded).toBe(true);
  });

  test("that its agent breaks off names the sandbox", async () => {
    await using rig = await GatewayRig.start((socket) => socket.destroy());
    const answer = await text(rig.open(get));
    expect(answer).toMatch(/^HTTP\/1\.1 409 /);
    expect(answer).toContain('"code":"EXECUTION_INTERRUPTED"');
    expect(answer).toContain(`"sandbox_id":"${sandboxId}"`);
    expect(answer).toContain('"hint":"Check what the code has done before you run it again."');
  });

  test("that was cut off says that the sandbox may go on, also if it can be reached again at once", async () => {
    await using rig = await GatewayRig.start((socket) => {
      rig.isCutOff = true;
      socket.destroy();
      setTimeout(() => {
        rig.isCutOff = false;
      }, 100);
    });
    const answer = await text(rig.open(get));
    expect(answer).toContain('"code":"EXECUTION_INTERRUPTED"');
    expect(answer).toContain("was cut while it served this request");
  });

  test("whose machine has ended says that the sandbox failed", async () => {
    await using rig = await GatewayRig.start((socket) => {
      rig.exit();
      socket.destroy();
    });
    const answer = await text(rig.open(get));
    expect(answer).toContain('"code":"SANDBOX_FAILED"');
  });

  const ended = (end: "expired" | "deleted") => () => {
    throw sandboxEnded({ ...gone, end });
  };
  const stopped = {
    id: sandboxId,
    status: "stopped",
    machine: undefined,
    isStopping: false,
    sleep: neverSleeps,
  } as const;
  test.each([
    ["expired", "SANDBOX_EXPIRED", ended("expired")],
    ["was deleted", "SANDBOX_NOT_FOUND", ended("deleted")],
    ["was stopped", "SANDBOX_STOPPED", () => ({ ...stopped, failureReason: undefined })],
  ])("whose sandbox %s says so, although the machine has not ended yet", async (_, code, sandbox) => {
    await using rig = await GatewayRig.start((socket) => {
      rig.sandbox = sandbox;
      socket.destroy();
    });
    expect(await text(rig.open(get))).toContain(`"code":"${code}"`);
  });

  const large = randomBytes(32 * 1024 * 1024);
  const slowly = (socket: Socket, take: (piece: Buffer) => void): void => {
    socket.on("data", (piece: Buffer) => {
      take(piece);
      socket.pause();
      setImmediate(() => socket.resume());
    });
  };

  test("gets a large file whole, however slowly it is read", async () => {
    await using rig = await GatewayRig.start((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${large.length}\r\n\r\n`);
      socket.end(large);
    });
    const client = rig.open(get.replace("ping", "files/download"));
    const pieces: Buffer[] = [];
    slowly(client, (piece) => pieces.push(piece));
    await once(client, "end");
    expect(Buffer.concat(pieces).subarray(-large.length).equals(large)).toBe(true);
  });

  test("brings a large body to the agent whole, however slowly it is read", async () => {
    const pieces: Buffer[] = [];
    await using rig = await GatewayRig.start((socket, head) => {
      let length = 0;
      const take = (piece: Buffer): void => {
        pieces.push(piece);
        length += piece.length;
        if (length === large.length) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      };
      take(Buffer.from(head.slice(head.indexOf("\r\n\r\n") + 4), "latin1"));
      slowly(socket, take);
    });
    const head = get.replace("GET", "POST").slice(0, -2);
    const client = rig.open(`${head}Content-Length: ${large.length}\r\n\r\n`);
    client.write(large);
    expect(await text(client)).toMatch(/ok$/);
    expect(Buffer.concat(pieces).equals(large)).toBe(true);
  });

  test("without a body is sent without one", async () => {
    const heads: string[] = [];
    await using rig = await GatewayRig.start((socket, head) => {
      heads.push(head);
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    expect(await text(rig.open(get))).toMatch(/ok$/);
    expect(heads[0]).not.toMatch(/^(content-length|transfer-encoding):/im);
  });

  test.each([
    ["Content-Length: 5", "hello"],
    ["Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"],
  ])("passes on the body of any method, framed by %s", async (framing, body) => {
    const heads: string[] = [];
    await using rig = await GatewayRig.start((socket, head) => {
      heads.push(head);
      socket.on("data", (bytes) => heads.push(String(bytes)));
      socket.once("data", () => undefined);
      setImmediate(() => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    });
    const head = get.replace("GET", "DELETE").slice(0, -2);
    expect(await text(rig.open(`${head}${framing}\r\n\r\n${body}`))).toMatch(/ok$/);
    const [sent = ""] = heads;
    expect(sent).toMatch(/^DELETE \/ping /);
    expect(
      sent.match(/^(content-length|transfer-encoding): .*$/gim)?.map((line) => line.toLowerCase()),
    ).toEqual([framing.toLowerCase()]);
  });
});

test("a WebSocket is asked for with GET; another method is served as it is", async () => {
  await using rig = await GatewayRig.start((socket) => socket.end(switched));
  const head = upgradeHead("/echo", "Content-Length: 0")
    .replace("GET", "POST")
    .replace("Upgrade\r\n", "Upgrade, close\r\n");
  expect(await text(rig.open(head))).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test("a WebSocket is asked for without a body; a request with one is served as it is", async () => {
  const heads: string[] = [];
  await using rig = await GatewayRig.start((socket, head) => {
    heads.push(head);
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  const head = upgradeHead(`/agent/${sandboxId}/files/watch`, "Content-Length: 3").replace(
    "Upgrade\r\n",
    "Upgrade, close\r\n",
  );
  expect(await text(rig.open(`${head}abc`))).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*ok$/);
  expect(heads).toHaveLength(1);
  expect(heads[0]).not.toMatch(/^upgrade:/im);
});

test("an offer of another protocol than WebSocket is ignored, its request served", async () => {
  await using rig = await GatewayRig.start((socket) => socket.end(switched));
  const head =
    "POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n";
  const client = rig.open(`${head}Content-Length: 10\r\n\r\nfirst`);
  client.write("-last");
  expect(await text(client)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*first-last/);
});

test.each([
  ["rebound.example", 403],
  ["127.0.0.1.example:80", 403],
  ["localhost.example", 403],
  ["127.0.0.1:1", 200],
  ["LOCALHOST", 200],
  ["app.localhost:1", 200],
  ["[::1]:1", 200],
])("a request to %s is answered with %i", async (host, status) => {
  await using rig = await GatewayRig.start((socket) => socket.end(switched));
  const answer = await text(rig.open(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`));
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  const upgrade = await text(rig.open(upgradeHead("/terminal").replace("localhost", host)));
  expect(upgrade).toContain(`HTTP/1.1 ${status === 403 ? 403 : 401} `);
});

function flood(socket: Socket, start: string): void {
  socket.write(start);
  const more = (): void => {
    while (socket.writable && socket.write("x".repeat(1024)));
  };
  socket.on("drain", more);
  more();
}
