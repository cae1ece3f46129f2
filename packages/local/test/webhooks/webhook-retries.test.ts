import type { Delivery } from "@cloud-sandbox/server-kit/handlers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { answering, type Behaviour, WebhookReceiver } from "../../../../test/support/webhook-receiver.js";
import { Database } from "../../src/store/database.js";
import { storageFull } from "../../src/store/storage-problem.js";
import { DeliveryQueue } from "../../src/webhooks/delivery-queue.js";
import { type DeliveryChange, DeliveryRepository } from "../../src/webhooks/delivery-repository.js";
import { type WebhookOptions, webhookDefaults } from "../../src/webhooks/webhook-options.js";
import { newDeliveryId } from "../../src/webhooks/webhooks.js";

let database: Database;
let deliveries: DeliveryRepository;
let queue: DeliveryQueue;
let lines: string[];

beforeEach(async () => {
  database = await Database.open();
  deliveries = new DeliveryRepository(database);
  lines = [];
});
afterEach(() => {
  queue.close();
  database.close();
  vi.restoreAllMocks();
});

const minute = 60_000;
const hour = 60 * minute;

function start(options: WebhookOptions = {}): DeliveryQueue {
  const webhooks = { ...webhookDefaults, allowPrivateAddresses: true, firstRetryMs: minute, ...options };
  queue = new DeliveryQueue({ deliveries, webhooks, isUsable: () => true, log: (line) => lines.push(line) });
  return queue;
}

function pending(url: string, change: DeliveryChange = {}): string {
  const id = newDeliveryId();
  const now = new Date();
  const callback = { url, headers: {}, secret: undefined };
  deliveries.add({ id, sandboxId: "s", executionId: "e", createdAt: now }, callback);
  deliveries.change(id, { status: "pending", queuedAt: now, nextAttemptAt: now, payload: "{}", ...change });
  return id;
}

/** Waits until so many attempts of a delivery are stored. Resolves with the delivery. */
async function after(attempts: number, id: string): Promise<Delivery> {
  await expect.poll(() => deliveries.find(id)?.attempts).toBe(attempts);
  return deliveries.find(id) as Delivery;
}

/** Milliseconds from the last attempt to the next. */
const delayOf = ({ lastAttemptAt, nextAttemptAt }: Delivery): number =>
  Number(nextAttemptAt) - Number(lastAttemptAt);

describe("after a failed attempt, the next one comes", () => {
  test.each<[string, number, number, WebhookOptions, Record<string, string>, number]>([
    ["after half the first wait at least", 0, 0, {}, {}, minute / 2],
    ["after the whole of it at most", 0, 1, {}, {}, minute],
    ["after three times as much the second time", 1, 1, {}, {}, 3 * minute],
    ["after nine times as much the third", 2, 1, {}, {}, 9 * minute],
    ["after half of that by chance", 2, 0, {}, {}, 4.5 * minute],
    ["after no more than the longest wait", 2, 1, { maxRetryMs: 2 * minute }, {}, 2 * minute],
    ["when the receiver says, where that is later", 0, 1, {}, { "retry-after": "600" }, 10 * minute],
    ["no sooner than by itself, whatever the receiver says", 0, 1, {}, { "retry-after": "1" }, minute],
    ["no later than after the longest wait", 0, 0, {}, { "retry-after": "7200" }, hour],
  ])("%s", async (_, before, chance, options, headers, delay) => {
    vi.spyOn(Math, "random").mockReturnValue(chance);
    await using receiver = await WebhookReceiver.start(answering(503, headers));
    const id = pending(receiver.url, { attempts: before });
    start(options).deliver(id);
    const delivery = await after(before + 1, id);
    expect(delivery).toMatchObject({ status: "pending", responseStatus: 503 });
    expect(delayOf(delivery)).toBeGreaterThanOrEqual(delay);
    expect(delayOf(delivery)).toBeLessThan(delay + 10_000);
    expect(Math.abs(Number(delivery.lastAttemptAt) - Date.now())).toBeLessThan(10_000);
    expect(receiver.received).toHaveLength(1);
  });
});

describe("an attempt to deliver a report", () => {
  test.each([
    [200, "delivered", undefined],
    [299, "delivered", undefined],
    [300, "pending", "The receiver answered 300; redirects are not followed."],
    [399, "pending", "The receiver answered 399; redirects are not followed."],
    [400, "pending", "The receiver answered 400."],
    [404, "pending", "The receiver answered 404."],
    [410, "failed", "The receiver answered 410: it is gone for good. Given up after 1 attempt."],
    [500, "pending", "The receiver answered 500."],
  ])("that is answered with %i is %s", async (status, becomes, error) => {
    await using receiver = await WebhookReceiver.start(answering(status));
    const id = pending(receiver.url);
    start().deliver(id);
    const delivery = await after(1, id);
    expect({ ...delivery, error: delivery.error }).toMatchObject({
      status: becomes,
      responseStatus: status,
      error,
    });
    expect(delivery.nextAttemptAt === undefined).toBe(becomes !== "pending");
  });

  test.each<[string, Behaviour, RegExp]>([
    ["is not answered in time", () => undefined, /^The receiver did not answer within 200 ms\.$/],
    [
      "is broken off",
      (response) => response.socket?.resetAndDestroy(),
      /^The receiver could not be reached, or closed the connection without an answer \(ECONNRESET\)\.$/,
    ],
  ])("that %s says so", async (_, behave, error) => {
    await using receiver = await WebhookReceiver.start(behave);
    const id = pending(receiver.url, { responseStatus: 500 });
    start({ requestTimeoutMs: 200 }).deliver(id);
    expect(await after(1, id)).toMatchObject({
      status: "pending",
      error: expect.stringMatching(error),
      responseStatus: undefined,
    });
  });

  test("at a private address, where that is not allowed, is the last", async () => {
    await using receiver = await WebhookReceiver.start(answering(200));
    const id = pending(receiver.url);
    start({ allowPrivateAddresses: false }).deliver(id);
    const delivery = await after(1, id);
    expect(delivery).toMatchObject({ status: "failed", responseStatus: undefined });
    expect(delivery.error).toMatch(/ address is not public, .* Given up after 1 attempt\.$/);
    expect(receiver.received).toEqual([]);
  });

  test("that fails for a reason without a code has no code", async () => {
    const resolve = async (): Promise<string[]> => Promise.reject(new Error("no code"));
    const id = pending("http://a.example/");
    start({ allowPrivateAddresses: false, resolve }).deliver(id);
    const { error } = await after(1, id);
    expect(error).toMatch(/^The receiver could not be reached[^()]*$/);
  });

  test("waits until its time has come", async () => {
    await using receiver = await WebhookReceiver.start();
    const id = pending(receiver.url, { nextAttemptAt: new Date(Date.now() + 400) });
    start().deliver(id);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(receiver.received).toEqual([]);
    expect(await after(1, id)).toMatchObject({ status: "delivered" });
  });

  test("that has no time is made at once", async () => {
    await using receiver = await WebhookReceiver.start();
    const id = pending(receiver.url, { nextAttemptAt: undefined });
    start().deliver(id);
    expect(await after(1, id)).toMatchObject({ status: "delivered" });
  });
});

describe("a report is given up", () => {
  test.each([
    ["with its last attempt", { maxAttempts: 3 }, 2, "Given up after 3 attempts."],
    ["when its next attempt would come too late", { maxAgeMs: 10_000 }, 0, "Given up after 1 attempt."],
  ])("%s", async (_, options, before, said) => {
    await using receiver = await WebhookReceiver.start(answering(500));
    const id = pending(receiver.url, { attempts: before });
    start(options).deliver(id);
    const delivery = await after(before + 1, id);
    expect(delivery).toMatchObject({ status: "failed", nextAttemptAt: undefined });
    expect(delivery.error).toBe(`The receiver answered 500. ${said}`);
    expect(lines).toEqual([
      `Webhook delivery ${id} to 127.0.0.1:${receiver.port} failed: The receiver answered 500. ${said}`,
    ]);
  });

  test("and not before its attempts are used up", async () => {
    await using receiver = await WebhookReceiver.start(answering(500));
    const id = pending(receiver.url, { attempts: 1 });
    start({ maxAttempts: 3, maxAgeMs: hour }).deliver(id);
    expect(await after(2, id)).toMatchObject({ status: "pending" });
    expect(lines).toEqual([]);
  });

  test("by its age since it was last queued", async () => {
    await using receiver = await WebhookReceiver.start(answering(500));
    const id = pending(receiver.url, { queuedAt: new Date(Date.now() - 2 * hour) });
    start({ maxAgeMs: hour }).deliver(id);
    expect(await after(1, id)).toMatchObject({ status: "failed" });
  });

  test("by its age since it was created, if it was never queued", async () => {
    await using receiver = await WebhookReceiver.start(answering(500));
    const id = pending(receiver.url, { queuedAt: undefined });
    start({ maxAgeMs: hour }).deliver(id);
    expect(await after(1, id)).toMatchObject({ status: "pending" });
  });
});

describe("where the store is full,", () => {
  /** Makes changes in the store fail with `error` while `isFull` returns true. Gives the number that failed. */
  function failing(error: () => Error, isFull: (count: number) => boolean): () => number {
    const run = database.run.bind(database);
    let failed = 0;
    database.run = (sql, values) => {
      if (sql.startsWith("UPDATE") && isFull(failed)) {
        failed += 1;
        throw error();
      }
      run(sql, values);
    };
    return () => failed;
  }

  test("a report that was delivered is not sent again, and is marked as delivered when there is room", async () => {
    await using receiver = await WebhookReceiver.start();
    const id = pending(receiver.url);
    const failed = failing(
      () => storageFull(new Error("full")),
      (count) => count < 1,
    );
    start().deliver(id);
    expect(await after(1, id)).toMatchObject({ status: "delivered" });
    expect(failed()).toBe(1);
    expect(receiver.received).toHaveLength(1);
    expect(lines).toEqual([]);
  });

  test("nothing is tried any more after the queue was closed", async () => {
    await using receiver = await WebhookReceiver.start();
    const id = pending(receiver.url);
    const failed = failing(
      () => storageFull(new Error("full")),
      () => true,
    );
    start().deliver(id);
    await expect.poll(failed).toBe(1);
    queue.close();
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(failed()).toBe(1);
  });

  test("a report that cannot be stored for another reason is held up, and that is logged", async () => {
    await using receiver = await WebhookReceiver.start();
    const id = pending(receiver.url);
    failing(
      () => new Error("broken"),
      (count) => count < 1,
    );
    start({ maxRetryMs: 300 }).deliver(id);
    await expect
      .poll(() => lines)
      .toEqual([`Webhook delivery ${id} is delayed by an error and will be tried again: Error: broken`]);
    const heldUp = Date.now();
    expect(await after(1, id)).toMatchObject({ status: "delivered" });
    expect(Date.now() - heldUp).toBeGreaterThanOrEqual(150);
    expect(receiver.received).toHaveLength(2);
  });
});

describe("to one receiver", () => {
  test("four reports are sent at a time, and the others after them", async () => {
    const waiting: (() => void)[] = [];
    await using receiver = await WebhookReceiver.start((response, attempt) => {
      waiting.push(() => answering(200)(response, attempt));
    });
    const ids = Array.from({ length: 14 }, () => pending(receiver.url));
    start();
    for (const id of ids) queue.deliver(id);
    for (let sent = 4; sent <= 14; sent += 1) {
      await expect.poll(() => receiver.received.length).toBe(sent);
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(receiver.received.length).toBe(sent);
      waiting.shift()?.();
    }
    for (const answer of waiting) answer();
    for (const id of ids) await after(1, id);
  });

  test("never more than four reports are sent at a time, whenever they are queued", async () => {
    const waiting: (() => void)[] = [];
    await using receiver = await WebhookReceiver.start((response, attempt) => {
      waiting.push(() => answering(200)(response, attempt));
    });
    start();
    for (let first = 0; first < 4; first += 1) queue.deliver(pending(receiver.url));
    await expect.poll(() => waiting.length).toBe(4);
    for (let round = 1; round <= 8; round += 1) {
      waiting.shift()?.();
      // Wait for this delivery, then add two more: so the queue is empty at first and grows in later rounds.
      await expect.poll(() => deliveries.list({ status: "delivered" }).length).toBe(round);
      for (let more = 0; more < 2; more += 1) queue.deliver(pending(receiver.url));
      await expect.poll(() => waiting.length).toBe(4);
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(waiting).toHaveLength(4);
    }
  });

  test("an attempt that the server's own end breaks off does not count", async () => {
    await using receiver = await WebhookReceiver.start(() => undefined);
    const id = pending(receiver.url);
    start().deliver(id);
    await expect.poll(() => receiver.received.length).toBe(1);
    queue.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(deliveries.find(id)).toMatchObject({ status: "pending", attempts: 0, error: undefined });
    expect(lines).toEqual([]);
  });

  test("a report that was done before its turn is not sent again", async () => {
    await using receiver = await WebhookReceiver.start((response, attempt) =>
      attempt <= 3 ? undefined : answering(200)(response, attempt),
    );
    start();
    for (let busy = 0; busy < 3; busy += 1) queue.deliver(pending(receiver.url));
    await expect.poll(() => receiver.received.length).toBe(3);
    const id = pending(receiver.url);
    queue.deliver(id);
    queue.deliver(id);
    await after(1, id);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(receiver.received).toHaveLength(4);
    expect(deliveries.find(id)?.attempts).toBe(1);
  });

  test.each([
    ["is done", { status: "delivered" }],
    ["waits for its code", { status: "waiting" }],
  ] as const)("a report that %s is not sent", async (_, change) => {
    await using receiver = await WebhookReceiver.start();
    const id = pending(receiver.url, change);
    start().deliver(id);
    start().deliver("unknown");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(receiver.received).toEqual([]);
  });
});

test("any number of reports wait without a warning of Node.js", async () => {
  const warned = vi.spyOn(process, "emitWarning");
  start();
  const later = new Date(Date.now() + hour);
  for (let count = 0; count < 20; count += 1)
    queue.deliver(pending("http://127.0.0.1:1", { nextAttemptAt: later }));
  expect(warned).not.toHaveBeenCalled();
});
