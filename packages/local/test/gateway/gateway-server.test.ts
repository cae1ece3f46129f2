import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createGatewayServer, listen } from "../../src/gateway/gateway-server.js";
import { GatewayRig, received, sandboxId, tokenFor } from "../support/gateway-rig.js";

const timeouts = { headMs: 250, bodyRestMs: 250 };
const post = (path: string, ...headers: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, "Host: localhost", "Content-Length: 5", ...headers, "", ""].join("\r\n");

test.each([
  ["says nothing", ""],
  ["does not end its request's head", "GET / HTTP/1.1\r\nHost: localhost\r\nX-More: "],
])("a connection that %s is closed with an answer that says why", async (_, start) => {
  await using rig = await GatewayRig.start((socket) => socket.end(), { timeouts });
  const client = rig.open(start);
  const trickle = setInterval(() => client.write("x"), 20);
  try {
    if (start === "") clearInterval(trickle);
    expect(await text(client)).toMatch(/^HTTP\/1\.1 408 [\s\S]*"INVALID_REQUEST"/);
  } finally {
    clearInterval(trickle);
  }
});

test("a body that arrives slowly is not awaited after its request was answered", async () => {
  const refused = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";
  await using rig = await GatewayRig.start((socket) => socket.write(refused), { timeouts });
  const client = rig.open(`${post(`/agent/${sandboxId}/execute`)}1`);
  const got = received(client);
  await expect.poll(got).toContain("HTTP/1.1 401 ");
  await expect.poll(() => client.readableEnded || client.destroyed).toBe(true);
});

test("a connection serves later requests if a body arrives soon after its answer", async () => {
  const refused = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";
  // This process sends the rest in time on a busy machine too.
  const bodyRestMs = 2000;
  await using rig = await GatewayRig.start((socket) => socket.write(refused), {
    timeouts: { ...timeouts, bodyRestMs },
  });
  const request = post(`/agent/${sandboxId}/execute`);
  const client = rig.open(`${request}1`);
  const got = received(client);
  await expect.poll(got).toContain("HTTP/1.1 401 ");
  client.write("2345");
  // Wait longer than the server waits for the rest of a body.
  await new Promise((resolve) => setTimeout(resolve, bodyRestMs + 250));
  client.write(`${request}12345`);
  await expect.poll(got).toMatch(/HTTP\/1\.1 401 [\s\S]*HTTP\/1\.1 401 /);
});

test("a body that the agent does not read delays no later request", async () => {
  const answers = ["413 Content Too Large", "200 OK"];
  await using rig = await GatewayRig.start((socket) =>
    socket.pause().write(`HTTP/1.1 ${answers.shift()}\r\nContent-Length: 0\r\n\r\n`),
  );
  const size = 16 * 1024 * 1024;
  const head = post(`/agent/${sandboxId}/files/upload`, `Authorization: Bearer ${tokenFor(sandboxId)}`);
  const client = rig.open(head.replace("Content-Length: 5", `Content-Length: ${size}`));
  const got = received(client);
  client.write(Buffer.alloc(size));
  await expect.poll(got).toMatch(/^HTTP\/1\.1 413 /);
  client.write(`${head}12345`);
  await expect.poll(got).toMatch(/HTTP\/1\.1 200 OK/);
});

test("a body that the agent waits for may take longer, and its connection serves the next request", async () => {
  const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  await using rig = await GatewayRig.start(
    (socket, head) => {
      let all = head;
      const more = (): void => {
        if (/12345$/.test(all)) socket.end(ok);
      };
      socket.on("data", (chunk) => {
        all += String(chunk);
        more();
      });
      more();
    },
    { timeouts },
  );
  const request = post(`/agent/${sandboxId}/files/upload`, `Authorization: Bearer ${tokenFor(sandboxId)}`);
  const client = rig.open(`${request}1`);
  const got = received(client);
  for (const digit of ["2", "3", "4", "5"]) {
    await new Promise((resolve) => setTimeout(resolve, timeouts.headMs / 2));
    client.write(digit);
  }
  await expect.poll(got).toMatch(/ok$/);
  client.write(`${request}12345`);
  await expect.poll(got).toMatch(/ok[\s\S]*ok$/);
});

test("an answer is followed by each part of a server that leads, without a warning of too many listeners", async () => {
  const server = createGatewayServer();
  onTestFinished(() => void server.close());
  server.on("request", (_, response) => response.end(String(response.getMaxListeners())));
  expect(Number(await (await fetch(await listen(server, "127.0.0.1", 0))).text())).toBeGreaterThan(11);
});
