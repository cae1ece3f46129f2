import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { boundedFetch } from "../src/transport/bounded-fetch.js";

const limit = 1000;
const bounded = boundedFetch(limit, () => new Error("too long"));

/** A server that answers with these pieces, one write each, and then goes on or ends. */
async function answering(type: string, pieces: readonly string[], isEndless = false): Promise<string> {
  const server = createServer(async (_, response) => {
    response.writeHead(200, { "content-type": type }).on("error", () => undefined);
    for (const piece of pieces) await new Promise((written) => response.write(piece, written));
    while (isEndless && !response.destroyed)
      await new Promise((written) => response.write("x".repeat(100), written));
    response.end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const event = `data: ${"x".repeat(900)}`;

test.each([
  ["a short answer", "application/json", ["{", '"a": 1', "}"]],
  ["many events", "text/event-stream", Array.from({ length: 20 }, () => `${event}\n\n`)],
  [
    "events with the line ends of Windows",
    "text/event-stream; charset=utf-8",
    Array.from({ length: 9 }, () => `${event}\r\n\r\n`),
  ],
  ["events in pieces", "text/event-stream", `${event}\n\n${event}\n\n`.match(/[\s\S]{1,7}/g) ?? []],
])("%s passes unchanged", async (_, type, pieces) => {
  const answer = await bounded(await answering(type, pieces));
  expect(answer.headers.get("content-type")).toBe(type);
  expect(await answer.text()).toBe(pieces.join(""));
});

test.each([
  ["an answer", "application/json", ["{"]],
  ["an event", "text/event-stream", [`${event}\n\n`, "data: "]],
  ["an event of many lines", "text/event-stream", Array.from({ length: 200 }, () => "data: x\n")],
])("%s without end is broken off", async (_, type, pieces) => {
  const answer = await bounded(await answering(type, pieces, true));
  await expect(answer.text()).rejects.toThrow("too long");
});
