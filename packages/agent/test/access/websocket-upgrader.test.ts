import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { executeStreamFrame } from "@cloud-sandbox/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.js";
import { RunningAgent } from "../support/running-agent.js";
import { connect, SocketClient } from "../support/socket-client.js";
import { forgeToken, signToken } from "../support/tokens.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
});

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

const handshake = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** Asks for a WebSocket, and resolves with the ordinary HTTP answer that refuses it. */
async function ask({ method = "GET", path = "/execute/stream", headers, body }: Asked) {
  const given = { authorization: `Bearer ${agent.token}`, ...handshake, ...headers };
  const present = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const asked = request({
    socketPath: agent.socket,
    agent: false,
    method,
    path,
    headers: Object.fromEntries(present),
  });
  asked.end(body);
  const incoming = await responseTo(asked);
  return { status: incoming.statusCode, headers: incoming.headers, body: JSON.parse(await text(incoming)) };
}

const responseTo = (asked: ClientRequest) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    asked.once("response", resolve).once("error", reject);
    asked.once("upgrade", (_, socket) => {
      socket.destroy();
      reject(new Error("It was upgraded."));
    });
  });

describe("a WebSocket is refused with an ordinary answer, in the agent's envelope, for", () => {
  test.each<[string, Asked, number, string]>([
    ["no token", { headers: { authorization: undefined } }, 401, "AUTHENTICATION_REQUIRED"],
    ["no token, and no such path", { path: "/nowhere" }, 404, "NOT_FOUND"],
    ["an operation that is no WebSocket", { path: "/execute" }, 405, "METHOD_NOT_ALLOWED"],
    ["no upgrade", { headers: { connection: "keep-alive", upgrade: undefined } }, 426, "INVALID_REQUEST"],
    ["another version", { headers: { "sec-websocket-version": "9" } }, 400, "INVALID_REQUEST"],
    ["no key", { headers: { "sec-websocket-key": undefined } }, 400, "INVALID_REQUEST"],
  ])("%s", async (_, asked, status, code) => {
    const answer = await ask(asked);
    expect(answer).toMatchObject({ status, body: { code } });
    expect(answer.headers["x-request-id"]).toMatch(/^req_/);
  });

  test("a token of somebody else, and one that has expired", async () => {
    const forged = await forgeToken("1700000000abcdefgh");
    expect(await ask({ headers: { authorization: `Bearer ${forged}` } })).toMatchObject({
      status: 401,
      body: { code: "INVALID_TOKEN" },
    });
    const expired = await signToken({ sub: "1700000000abcdefgh", expires: "-1s" });
    expect(await ask({ headers: { authorization: `Bearer ${expired}` } })).toMatchObject({
      status: 401,
      body: { code: "TOKEN_EXPIRED" },
    });
  });
});

test("a request for a protocol other than WebSocket is answered as if it had not asked for one", async () => {
  const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABk" };
  const body = JSON.stringify({ code: "print(6 * 7)" });
  const answer = await ask({ method: "POST", path: "/execute", headers, body });
  expect(answer).toMatchObject({ status: 200, body: { stdout: "42\n" } });
});

test("64 streams may be open at a time: another is refused, and other work goes on", async () => {
  const sockets = await Promise.all(Array.from({ length: 64 }, () => connect(agent, "/execute/stream")));
  expect((await agent.call("GET", "/health")).body).toMatchObject({ active_streams: 64 });
  const refused = await ask({});
  expect(refused).toMatchObject({ status: 429, body: { code: "RESOURCE_EXHAUSTED" } });
  expect(refused.headers["retry-after"]).toBe("1");
  expect((await agent.execute({ code: "print(1)" })).body.stdout).toBe("1\n");
  for (const socket of sockets) socket.terminate();
  await eventually("they are gone", async () => {
    const { body } = await agent.call<{ active_streams: number }>("GET", "/health");
    return body.active_streams === 0;
  });
  using again = await SocketClient.open(agent, "/execute/stream", executeStreamFrame);
  again.send({ type: "execute", code: "1" });
  expect((await again.closed()).at(-1)).toEqual({ type: "complete", success: true });
});

test("a frame that is too large ends its own WebSocket and no other", async () => {
  const socket = await connect(agent, "/execute/stream");
  socket.on("error", () => undefined);
  socket.send("x".repeat(5 * 1024 * 1024));
  const [code] = await once(socket, "close");
  expect(code).toBe(1009);
  expect((await agent.call("GET", "/health")).status).toBe(200);
});

test("GET /info names the streams that are served", async () => {
  const { body } = await agent.call<{ features: object; endpoints: object }>("GET", "/info");
  expect(body.features).toMatchObject({ websocket_streaming: true });
  expect(body.endpoints).toMatchObject({
    streamExecution: "GET /execute/stream",
    streamCommand: "GET /commands/stream",
  });
});
