import { createHmac } from "node:crypto";
import { createServer } from "node:net";
import type { Delivery } from "@cloud-sandbox/server-kit/handlers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { answering, type Behaviour, WebhookReceiver } from "../../../../test/support/webhook-receiver.js";
import { Database } from "../../src/store/database.js";
import type { Callback } from "../../src/webhooks/callback.js";
import { DeliveryQueue } from "../../src/webhooks/delivery-queue.js";
import { DeliveryRepository } from "../../src/webhooks/delivery-repository.js";
import { type WebhookOptions, webhookDefaults } from "../../src/webhooks/webhook-options.js";
import { newDeliveryId } from "../../src/webhooks/webhooks.js";

let database: Database;
let deliveries: DeliveryRepository;
let queues: DeliveryQueue[];
let lines: string[];
let revoked: Set<string | undefined>;

beforeEach(async () => {
  database = await Database.open();
  deliveries = new DeliveryRepository(database);
  queues = [];
  lines = [];
  revoked = new Set();
});
afterEach(() => {
  for (const queue of queues) queue.close();
  database.close();
});

const quick = { allowPrivateAddresses: true, firstRetryMs: 20, maxRetryMs: 100 };

function queue(options: WebhookOptions = {}): DeliveryQueue {
  const made = new DeliveryQueue({
    deliveries,
    webhooks: { ...webhookDefaults, ...quick, ...options },
    isUsable: (keyId) => !revoked.has(keyId),
    log: (line) => lines.push(line),
  });
  queues.push(made);
  return made;
}

const payload = JSON.stringify({ execution_id: "e", status: "completed", stdout: "é😀\n" });

/** Stores a report that is due. Returns the id of its delivery. */
function pending(callback: Partial<Callback> & Pick<Callback, "url">, keyId?: string): string {
  const id = newDeliveryId();
  const now = new Date();
  deliveries.add(
    { id, sandboxId: "s", executionId: "e", createdAt: now },
    { headers: {}, secret: undefined, ...callback },
    keyId,
  );
  deliveries.change(id, { status: "pending", queuedAt: now, nextAttemptAt: now, payload });
  return id;
}

async function done(id: string): Promise<Delivery> {
  await expect.poll(() => deliveries.find(id)?.status).toMatch(/delivered|failed/);
  const delivery = deliveries.find(id);
  if (!delivery) throw new Error(`${id} is gone.`);
  return delivery;
}

describe("a report to a host name", () => {
  const names: Readonly<Record<string, readonly string[]>> = {
    "mixed.test": ["1.1.1.1", "127.0.0.1"],
    "private.test": ["127.0.0.1"],
    "azure.test": ["168.63.129.16"],
    "unknown.test": [],
  };
  const resolve = async (name: string): Promise<readonly string[]> => names[name] ?? [];

  test.each(["mixed.test", "private.test", "azure.test"])(
    "of which not all addresses are public is never sent: %s",
    async (name) => {
      await using receiver = await WebhookReceiver.start();
      const { port } = new URL(receiver.url);
      const id = pending({ url: `http://${name}:${port}/hook` });
      queue({ allowPrivateAddresses: false, resolve }).deliver(id);
      const { status, attempts, error } = await done(id);
      expect({ status, attempts }).toEqual({ status: "failed", attempts: 1 });
      expect(error).toContain("is not public");
      expect(receiver.received).toEqual([]);
    },
  );

  test("without an address is tried again", async () => {
    const id = pending({ url: "http://unknown.test/" });
    queue({ allowPrivateAddresses: false, resolve, maxAttempts: 2 }).deliver(id);
    expect(await done(id)).toMatchObject({
      status: "failed",
      attempts: 2,
      error: expect.stringContaining("ENOTFOUND"),
    });
  });
});

describe("a report", () => {
  test("is sent unchanged, signed, with the caller's headers and the delivery's id", async () => {
    await using receiver = await WebhookReceiver.start();
    const id = pending({
      url: `${receiver.url}?for=me`,
      headers: { Authorization: "Bearer x", "Content-Type": "text/plain" },
      secret: "s3cret",
    });
    queue().deliver(id);
    expect(await done(id)).toMatchObject({
      status: "delivered",
      attempts: 1,
      responseStatus: 200,
      error: undefined,
    });
    const [{ path, headers, body, at } = { path: "", headers: {}, body: "", at: 0 }] = receiver.received;
    expect({ path, body }).toEqual({ path: "/hook?for=me", body: payload });
    expect(headers).toMatchObject({
      authorization: "Bearer x",
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(payload)),
      "x-hopx-delivery": id,
      "x-hopx-signature": `sha256=${createHmac("sha256", "s3cret").update(Buffer.from(body)).digest("hex")}`,
    });
    expect(Math.abs(Number(headers["x-hopx-timestamp"]) - at / 1000)).toBeLessThan(5);
  });

  test("without a secret is not signed", async () => {
    await using receiver = await WebhookReceiver.start();
    const id = pending({ url: receiver.url });
    queue().deliver(id);
    await done(id);
    expect(receiver.received[0]?.headers).not.toHaveProperty("x-hopx-signature");
  });

  const failingAtFirst: readonly (readonly [string, Behaviour])[] = [
    ["answers 500", answering(500)],
    ["answers 404", answering(404)],
    ["answers with a redirect", answering(302, { location: "http://127.0.0.1:1/" })],
    ["hangs", () => undefined],
    ["hangs up", (response) => response.destroy()],
    [
      "switches to another protocol",
      (response) =>
        response.socket?.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
        ),
    ],
    ["answers something else than HTTP", (response) => response.socket?.end("hello\r\n\r\n")],
  ];

  test.each(failingAtFirst)("is sent again unchanged while the receiver %s", async (_, behave) => {
    await using receiver = await WebhookReceiver.start((response, attempt) =>
      attempt <= 2 ? behave(response, attempt) : answering(204)(response, attempt),
    );
    const id = pending({ url: receiver.url, secret: "s" });
    queue({ requestTimeoutMs: 1000 }).deliver(id);
    const { status, attempts, responseStatus } = await done(id);
    expect({ status, responseStatus }).toEqual({ status: "delivered", responseStatus: 204 });
    expect(attempts).toBeGreaterThanOrEqual(3);
    const sent = receiver.received.map(({ path, body, headers }) => [path, body, headers["x-hopx-delivery"]]);
    expect(sent).toEqual(Array(attempts).fill(["/hook", payload, id]));
  });

  test("counts as delivered when the answer's body does not end", async () => {
    await using receiver = await WebhookReceiver.start((response) => {
      response.writeHead(200).write("x".repeat(200_000));
    });
    const id = pending({ url: receiver.url });
    queue().deliver(id);
    expect(await done(id)).toMatchObject({ status: "delivered", attempts: 1 });
  });

  test("is sent when the receiver listens at last", async () => {
    const port = await freePort();
    const id = pending({ url: `http://127.0.0.1:${port}/hook` });
    queue({ maxAttempts: 10_000 }).deliver(id);
    await expect.poll(() => deliveries.find(id)?.attempts).toBeGreaterThan(1);
    expect(deliveries.find(id)?.error).toMatch(/ECONNREFUSED/);
    await using receiver = await WebhookReceiver.start(answering(200), port);
    expect(await done(id)).toMatchObject({ status: "delivered", error: undefined });
    expect(receiver.received).toHaveLength(1);
  });

  test.each([
    ["in seconds", () => "1"],
    ["as a date", () => new Date(Date.now() + 2000).toUTCString()],
  ])("waits as long as Retry-After says %s, but no longer than the longest wait", async (_, value) => {
    await using receiver = await WebhookReceiver.start((response, attempt) =>
      answering(attempt === 1 ? 503 : 200, attempt === 1 ? { "retry-after": value() } : {})(
        response,
        attempt,
      ),
    );
    const [patient, hasty] = [pending({ url: receiver.url }), pending({ url: receiver.url })];
    queue({ maxRetryMs: 60_000 }).deliver(patient);
    await done(patient);
    const [first, second] = receiver.received;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(900);
    receiver.behave = (response, attempt) =>
      answering(attempt === 3 ? 503 : 200, { "retry-after": "600" })(response, attempt);
    queue().deliver(hasty);
    expect(await done(hasty)).toMatchObject({ status: "delivered", attempts: 2 });
  });

  test("waits longer each time", async () => {
    await using receiver = await WebhookReceiver.start(answering(500));
    const id = pending({ url: receiver.url });
    queue({ firstRetryMs: 40, maxRetryMs: 10_000, maxAttempts: 4 }).deliver(id);
    await done(id);
    const times = receiver.received.map(({ at }) => at);
    const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(waits.map((wait, index) => wait >= 20 * 3 ** index - 2)).toEqual([true, true, true]);
  });
});

describe("a report is given up, and the delivery says so,", () => {
  test.each([
    [
      "after the last attempt",
      { maxAttempts: 3 },
      answering(500),
      3,
      /answered 500\. Given up after 3 attempts/,
    ],
    ["when it is too old", { maxAgeMs: 10 }, answering(500), 1, /Given up after 1 attempt\./],
    ["at once when the receiver is gone", {}, answering(410), 1, /410: it is gone for good/],
  ] as const)("%s", async (_, options, behave, attempts, message) => {
    await using receiver = await WebhookReceiver.start(behave);
    const id = pending({
      url: `${receiver.url}?token=hidden`,
      headers: { authorization: "hidden" },
      secret: "hidden",
    });
    queue(options).deliver(id);
    expect(await done(id)).toMatchObject({
      status: "failed",
      attempts,
      error: expect.stringMatching(message),
    });
    expect(receiver.received).toHaveLength(attempts);
    expect(lines).toEqual([expect.stringContaining(`127.0.0.1:${receiver.port}`)]);
    expect(lines.join()).not.toContain("hidden");
  });

  test.each([
    ["an address", (port: number) => `http://127.0.0.1:${port}/`],
    ["the same in IPv6", (port: number) => `http://[::ffff:127.0.0.1]:${port}/`],
    ["a name that stands for it", (port: number) => `http://localhost:${port}/`],
    ["a number", (port: number) => `http://2130706433:${port}/`],
  ])("when it would go to a private address: %s", async (_, url) => {
    await using receiver = await WebhookReceiver.start();
    const id = pending({ url: url(receiver.port) });
    queue({ allowPrivateAddresses: false }).deliver(id);
    expect(await done(id)).toMatchObject({
      status: "failed",
      attempts: 1,
      error: expect.stringMatching(/is not public/),
    });
    expect(receiver.received).toEqual([]);
  });
});

test("a report is not sent any more once its API key was revoked", async () => {
  await using receiver = await WebhookReceiver.start((response, attempt) => {
    revoked.add("key_1");
    answering(attempt <= 2 ? 500 : 200)(response, attempt);
  });
  const [ofKey, own] = [pending({ url: receiver.url }, "key_1"), pending({ url: receiver.url }, "key_2")];
  const running = queue();
  running.deliver(ofKey);
  expect(await done(ofKey)).toMatchObject({
    status: "failed",
    attempts: 1,
    responseStatus: 500,
    nextAttemptAt: undefined,
    error: "The API key was revoked or has expired.",
  });
  running.deliver(own);
  expect(await done(own)).toMatchObject({ status: "delivered", attempts: 2 });
  expect(receiver.received.map(({ headers }) => headers["x-hopx-delivery"])).toEqual([ofKey, own, own]);
});

test("a receiver that does not answer delays no other", async () => {
  await using silent = await WebhookReceiver.start(() => undefined);
  await using quickOne = await WebhookReceiver.start();
  const all = queue({ requestTimeoutMs: 60_000 });
  for (let index = 0; index < 100; index += 1) all.deliver(pending({ url: silent.url }));
  const ids = Array.from({ length: 100 }, () => pending({ url: quickOne.url }));
  for (const id of ids) all.deliver(id);
  await Promise.all(ids.map(done));
  expect(quickOne.received).toHaveLength(100);
  expect(silent.received.length).toBeLessThanOrEqual(4);
});

test("another queue continues with the deliveries of one that was stopped", async () => {
  await using receiver = await WebhookReceiver.start((response, attempt) =>
    attempt === 2 ? undefined : answering(attempt === 1 ? 500 : 200)(response, attempt),
  );
  const id = pending({ url: receiver.url });
  const first = queue({ requestTimeoutMs: 60_000 });
  first.deliver(id);
  await expect.poll(() => receiver.received.length).toBe(2);
  first.close();
  expect(deliveries.find(id)).toMatchObject({ status: "pending", attempts: 1 });
  queue().deliver(id);
  expect(await done(id)).toMatchObject({ status: "delivered", attempts: 2 });
});

test("of deliveries that have ended, only the latest are remembered", () => {
  const ids = Array.from({ length: 1100 }, () => pending({ url: "https://example.com/" }));
  const open = ids.splice(0, 50);
  for (const id of ids) deliveries.change(id, { status: "delivered" });
  expect(deliveries.list({ status: "delivered" })).toHaveLength(1000);
  expect(
    deliveries
      .list({ status: "pending" })
      .map(({ id }) => id)
      .sort(),
  ).toEqual(open.sort());
  expect(deliveries.countOpen()).toBe(50);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}
