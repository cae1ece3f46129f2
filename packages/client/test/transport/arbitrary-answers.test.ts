import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isSandboxError, SandboxClient } from "../../src/index.js";
import { apiKey } from "../support/clients.js";
import { type Exchange, FaultyService, head } from "../support/faulty-service.js";

/** Fixed, so that each run sends the same answers. */
const seed = 20_261_120;

/** How the server answers the next request. */
let misbehave: (exchange: Exchange) => void;
let at: FaultyService;
let streams: FaultyService;
let client: SandboxClient;
let streaming: SandboxClient;

beforeAll(async () => {
  const behave = (exchange: Exchange): void => misbehave(exchange);
  at = await FaultyService.start({ at: "GET /v1/sandboxes/abc", misbehave: behave });
  streams = await FaultyService.start({ at: "GET /agent/execute/stream", misbehave: behave });
  const options = { apiKey, retry: false, timeouts: { requestSeconds: 30, idleSeconds: 30 } } as const;
  client = new SandboxClient({ ...options, baseUrl: at.url });
  streaming = new SandboxClient({ ...options, baseUrl: streams.url });
});
afterAll(async () => {
  await Promise.all([client.close(), streaming.close()]);
  await Promise.all([at.stop(), streams.stop()]);
});

/** Expects that a call succeeds, or fails with an error of this library whose message is short and contains no key. */
async function endsWell(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isSandboxError(error)) throw error;
    expect(error.code).toMatch(/./);
    expect(error.message.length).toBeLessThan(4000);
    expect(error.message).not.toContain(apiKey);
  }
}

const envelope = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      error: fc.oneof(
        fc.jsonValue(),
        fc.record({ message: fc.jsonValue(), code: fc.jsonValue(), details: fc.jsonValue() }),
      ),
      message: fc.jsonValue(),
      code: fc.jsonValue(),
      request_id: fc.jsonValue(),
      retry_after: fc.jsonValue(),
      id: fc.jsonValue(),
      status: fc.jsonValue(),
      auth_token: fc.jsonValue(),
      public_host: fc.jsonValue(),
      expires_at: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
);
const headerText = fc.string({ unit: fc.constantFrom(...'abcXYZ0189 ,;=/-+."*'), maxLength: 40 });
const headers = fc.dictionary(
  fc.constantFrom("content-type", "retry-after", "date", "x-request-id", "location", "set-cookie", "x-other"),
  headerText,
);
const frame = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      type: fc.oneof(fc.constantFrom("stdout", "stderr", "result", "error", "complete"), fc.jsonValue()),
      data: fc.jsonValue(),
      exit_code: fc.jsonValue(),
      execution_time: fc.jsonValue(),
      error: fc.jsonValue(),
      code: fc.jsonValue(),
      success: fc.jsonValue(),
      rich_outputs: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
);

describe("whatever a server sends, a call ends in its result or in an error of this package", () => {
  test("envelopes and headers", async () => {
    const status = fc.integer({ min: 200, max: 599 });
    await fc.assert(
      fc.asyncProperty(envelope, status, headers, async (body, status, headers) => {
        misbehave = (exchange) => exchange.answer(status, JSON.stringify(body), headers);
        await endsWell(client.sandboxes.get("abc"));
      }),
      { numRuns: 300, seed },
    );
  });

  test("bytes in place of a body", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.boolean(), async (bytes, isJson) => {
        misbehave = (exchange) => {
          const type = isJson ? "application/json" : "text/plain";
          exchange.write(head(200, { "content-type": type, "content-length": String(bytes.length) }));
          exchange.write(bytes);
        };
        await endsWell(client.sandboxes.get("abc"));
      }),
      { numRuns: 100, seed },
    );
  });

  test("frames of a stream", async () => {
    const sandbox = await streaming.sandboxes.get("abc");
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 6 }), async (frames) => {
        misbehave = (exchange) =>
          void exchange.upgrade((_, socket) => {
            socket.send(...frames.map((frame) => JSON.stringify(frame)));
            socket.close(1000);
          });
        await endsWell(sandbox.executeStream("1").result());
      }),
      { numRuns: 150, seed },
    );
  });
});
