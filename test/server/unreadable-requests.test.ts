import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let server: LocalServer;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0"] });
});
afterAll(() => server?.stop());

describe("what no HTTP parser can read is answered like every other error", () => {
  test.each([
    ["noise", "\x16\x03\x01 hello\r\n\r\n", 400, "INVALID_REQUEST"],
    ["a method that there is not", "NONSENSE / HTTP/1.1\r\nHost: x\r\n\r\n", 400, "INVALID_REQUEST"],
    [
      "two lengths",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      400,
      "INVALID_REQUEST",
    ],
    ["an address of 10 MB", `GET /${"a".repeat(1e7)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, "PAYLOAD_TOO_LARGE"],
    [
      "a header of 20 KB",
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(20_000)}\r\n\r\n`,
      431,
      "PAYLOAD_TOO_LARGE",
    ],
  ])("%s", async (_, request, status, code) => {
    const answer = await exchange(request);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ code, error: { code }, request_id: answer.requestId });
  });

  test("in the agent's form if the request was for an agent", async () => {
    const { body } = await exchange(`GET /agent/x HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(20_000)}\r\n\r\n`);
    expect(body).toMatchObject({ code: "PAYLOAD_TOO_LARGE", error: expect.stringContaining("16 KiB") });
  });
});

async function exchange(request: string) {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  // The server may answer and close before the whole request was sent.
  socket.on("error", () => undefined);
  socket.write(request, "latin1");
  const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
  return {
    status: Number(head.split(" ")[1]),
    requestId: /x-request-id: (\S+)/.exec(head)?.[1],
    body: JSON.parse(body) as object,
  };
}
