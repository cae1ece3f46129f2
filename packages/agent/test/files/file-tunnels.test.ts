import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { json } from "node:stream/consumers";
import { type buildConnector, Client } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(() => agent[Symbol.asyncDispose]());

const protocol = "cloud-sandbox-files";

/** Opens a tunnel to an agent. Resolves with an HTTP client that sends its requests through it. */
async function tunnelTo({ socket, token }: RunningAgent): Promise<Client> {
  const outside = new Client("http://agent", { socketPath: socket });
  const headers = { authorization: `Bearer ${token}` };
  const opened = await outside.upgrade({ path: "/files/tunnel", protocol, headers });
  // Give the socket to the client in a later turn, because the client misses what happens before it listens.
  const connect: buildConnector.connector = (_, done) => setImmediate(done, null, opened.socket as Socket);
  return new Client("http://agent", { connect });
}

async function ask(client: Client, method: "GET" | "POST", path: string, body?: string, token = agent.token) {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { "content-type": "application/octet-stream" }),
  };
  const answer = await client.request({ method, path, headers, body: body ?? null });
  return { status: answer.statusCode, text: await answer.body.text() };
}

describe("a tunnel", () => {
  test("takes requests about files, one after another", async () => {
    const client = await tunnelTo(agent);
    const content = "x".repeat(3_000_000);
    expect(await ask(client, "POST", "/files/upload?path=large", content)).toMatchObject({ status: 200 });
    expect(await ask(client, "GET", "/files/download?path=large")).toEqual({ status: 200, text: content });
    await client.close();
  });

  test("takes none about anything else, and none without a token of its own", async () => {
    const client = await tunnelTo(agent);
    for (const path of ["/execute", "/env", "/metrics/snapshot"]) {
      const { status, text } = await ask(client, "GET", path);
      expect({ status, code: JSON.parse(text).code }).toEqual({ status: 403, code: "PERMISSION_DENIED" });
    }
    expect(await ask(client, "GET", "/files/list?path=.", undefined, "x")).toMatchObject({ status: 401 });
    expect(await ask(client, "GET", "/files/list?path=.")).toMatchObject({ status: 200 });
    await client.close();
  });

  test.each([
    ["without a token", "/files/tunnel", "", 401, "AUTHENTICATION_REQUIRED"],
    ["with a token of no value", "/files/tunnel", "Bearer x.y.z", 401, "INVALID_TOKEN"],
    ["somewhere else", "/execute", undefined, 404, "NOT_FOUND"],
  ])("is refused %s", async (_, path, authorization = `Bearer ${agent.token}`, status, code) => {
    const headers = { connection: "Upgrade", upgrade: protocol, authorization };
    const asked = request({ socketPath: agent.socket, path, headers });
    asked.end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(status);
    expect(await json(response)).toMatchObject({ code });
  });

  test("ends with its agent", async () => {
    const other = await RunningAgent.start();
    const client = await tunnelTo(other);
    expect(await ask(client, "GET", "/files/list?path=.", undefined, other.token)).toMatchObject({
      status: 200,
    });
    const ended = once(client, "disconnect");
    await other[Symbol.asyncDispose]();
    await ended;
    await client.close();
  });
});
