import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ContractDocument } from "../support/documents/contract-document.js";
import type { FrameSocket } from "../support/frame-socket.js";
import { conversations } from "./frames-arbitrary.js";
import { FuzzTarget } from "./fuzz-target.js";
import { meaningful } from "./meaningful-values.js";
import { cases, seed } from "./run-size.js";
import { SchemaArbitraries } from "./schema-arbitrary.js";

/** Close codes that a server sends on purpose. 1006, in contrast, means that the connection broke. */
const orderlyCloses = [1000, 1001, 1003, 1007, 1008, 1009];
/** A server that has sent nothing for so long has answered everything. */
const silenceMs = 100;

const document = new ContractDocument("agent");
const arbitraries = new SchemaArbitraries(document, {
  ...meaningful,
  data: fc.constantFrom("echo typed\n", "exit\n", "\u0003", "\u0004", "\u001b[A"),
});
let target: FuzzTarget;

beforeAll(async () => {
  target = await FuzzTarget.start();
});
afterAll(() => target?.close());

describe("every message over a WebSocket is answered as documented", () => {
  for (const operation of document.operations) {
    const { operationId, path, clientFrames, serverFrames } = operation;
    if (!clientFrames || !serverFrames) continue;

    test(`${operationId} at ${path}`, { timeout: 240_000 }, async () => {
      const property = fc.asyncProperty(conversations(clientFrames, arbitraries), async (messages) => {
        using socket = await target.open(operation);
        for (const message of messages) socket.sendRaw(message);
        await quiet(socket);
        expect(socket.others).toEqual([]);
        for (const frame of socket.frames) expect(serverFrames(frame), JSON.stringify(frame)).toBeUndefined();
        if (socket.closed !== undefined) expect(orderlyCloses).toContain(socket.closed);
        for (const secret of target.secrets) expect(JSON.stringify(socket.frames)).not.toContain(secret);
      });
      await fc.assert(property, { seed, numRuns: Math.ceil(cases / 3) });
    });
  }

  test("after which everything still works", async () => {
    expect(await target.damage()).toEqual([]);
  });
});

/** Waits until the socket is closed, or the server has sent nothing for `silenceMs`. */
async function quiet(socket: FrameSocket): Promise<void> {
  let heard = -1;
  while (socket.closed === undefined && heard !== socket.frames.length) {
    heard = socket.frames.length;
    await new Promise((resolve) => setTimeout(resolve, silenceMs));
  }
}
