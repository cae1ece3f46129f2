import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { answering, WebhookReceiver } from "../../../../test/support/webhook-receiver.js";
import { Database } from "../../src/store/database.js";
import { MemoryEventLog } from "../../src/store/event-log.js";
import { storageFull } from "../../src/store/storage-problem.js";
import { DeliveryQueue } from "../../src/webhooks/delivery-queue.js";
import { DeliveryRepository } from "../../src/webhooks/delivery-repository.js";
import { EventWebhooks } from "../../src/webhooks/event-webhooks.js";
import { SubscriptionRepository } from "../../src/webhooks/subscription-repository.js";
import { webhookDefaults } from "../../src/webhooks/webhook-options.js";
import { newDeliveryId } from "../../src/webhooks/webhooks.js";

let database: Database;
let events: MemoryEventLog;
let deliveries: DeliveryRepository;
let subscriptions: SubscriptionRepository;
let queue: DeliveryQueue;
let webhooks: EventWebhooks;
let lines: string[];

beforeEach(async () => {
  database = await Database.open();
  events = new MemoryEventLog();
  deliveries = new DeliveryRepository(database);
  subscriptions = new SubscriptionRepository(database);
  lines = [];
  const log = (line: string): unknown => lines.push(line);
  const options = { ...webhookDefaults, allowPrivateAddresses: true, firstRetryMs: 1000 };
  queue = new DeliveryQueue({ deliveries, webhooks: options, isUsable: () => true, log });
  webhooks = new EventWebhooks({
    events,
    open: async () => ({ subscriptions, deliveries, queue }),
    newId: newDeliveryId,
    allowPrivateAddresses: true,
    isUsable: () => true,
    log,
  });
});
afterEach(() => {
  webhooks.close();
  queue.close();
  database.close();
  vi.restoreAllMocks();
});

function subscribe(id: string, url: string): void {
  const callback = { url, headers: {}, secret: undefined };
  const all = { keyId: undefined, types: undefined, sandboxId: undefined };
  subscriptions.add({ id, callback, cursor: events.last, createdAt: new Date(), ...all });
}

const happen = (sandboxId: string): void =>
  events.append({ type: "sandbox.created", at: new Date(), sandboxId, keyId: undefined, facts: {} });

const sandboxesAt = (receiver: WebhookReceiver): string[] =>
  receiver.received.map(({ body }) => JSON.parse(body).sandbox_id);

test("events are delivered after the data directory was full for a moment", async () => {
  await using receiver = await WebhookReceiver.start();
  subscribe("whs_1", receiver.url);
  const list = vi.spyOn(subscriptions, "list");
  webhooks.resume({ subscriptions, deliveries, queue });
  list.mockImplementation(() => {
    throw storageFull(new Error("database or disk is full"));
  });
  happen("a");
  await expect.poll(() => list.mock.results.filter(({ type }) => type === "throw").length).toBeGreaterThan(1);
  expect(lines).toEqual([expect.stringContaining("Events are delayed by an error")]);
  list.mockRestore();
  await expect.poll(() => sandboxesAt(receiver)).toEqual(["a"]);
});

test("a webhook whose events cannot be queued delays no other, and gets them later", async () => {
  await using failing = await WebhookReceiver.start();
  await using other = await WebhookReceiver.start();
  subscribe("whs_1", failing.url);
  subscribe("whs_2", other.url);
  const moveOn = subscriptions.moveOn.bind(subscriptions);
  const spy = vi.spyOn(subscriptions, "moveOn").mockImplementation((id, ...rest) => {
    if (id === "whs_1") throw storageFull(new Error("database or disk is full"));
    moveOn(id, ...rest);
  });
  webhooks.resume({ subscriptions, deliveries, queue });
  happen("a");
  await expect.poll(() => sandboxesAt(other)).toEqual(["a"]);
  happen("b");
  await expect.poll(() => sandboxesAt(other).sort()).toEqual(["a", "b"]);
  expect(lines).toEqual([expect.stringMatching(/whs_1 are delayed by an error/)]);
  spy.mockRestore();
  await expect.poll(() => sandboxesAt(failing).sort()).toEqual(["a", "b"]);
});

const remove = (id: string) =>
  webhooks.handlers(undefined, () => undefined).deleteWebhook({ params: { id }, requestId: "r" } as never);

test("a webhook that was deleted gets none of the events that are pending", async () => {
  await using receiver = await WebhookReceiver.start(answering(503));
  await using other = await WebhookReceiver.start((response, attempt) =>
    answering(attempt === 1 ? 503 : 200)(response, attempt),
  );
  subscribe("whs_1", receiver.url);
  subscribe("whs_2", other.url);
  webhooks.resume({ subscriptions, deliveries, queue });
  happen("a");
  await expect.poll(() => deliveries.list({}).filter(({ attempts }) => attempts > 0).length).toBe(2);
  await remove("whs_1");
  const { length: sent } = receiver.received;
  expect(deliveries.list({ status: "failed" })).toMatchObject([
    { callbackUrl: receiver.url, error: "The webhook was deleted.", nextAttemptAt: undefined },
  ]);
  await expect.poll(() => deliveries.list({ status: "delivered" }).length).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(receiver.received).toHaveLength(sent);
});

test("a webhook that is deleted during an attempt gets no other", async () => {
  const responses: ServerResponse[] = [];
  await using receiver = await WebhookReceiver.start((response) => responses.push(response));
  subscribe("whs_1", receiver.url);
  webhooks.resume({ subscriptions, deliveries, queue });
  happen("a");
  await expect.poll(() => responses.length).toBe(1);
  await remove("whs_1");
  responses[0]?.writeHead(503).end();
  await expect.poll(() => deliveries.list({})[0]?.attempts).toBe(1);
  expect(deliveries.list({})).toMatchObject([
    {
      status: "failed",
      responseStatus: 503,
      error: "The webhook was deleted.",
      nextAttemptAt: undefined,
    },
  ]);
});

test("a webhook that cannot be deleted keeps its pending events", async () => {
  await using receiver = await WebhookReceiver.start(answering(503));
  subscribe("whs_1", receiver.url);
  webhooks.resume({ subscriptions, deliveries, queue });
  happen("a");
  await expect.poll(() => deliveries.list({})[0]?.attempts).toBeGreaterThan(0);
  const run = database.run.bind(database);
  const spy = vi.spyOn(database, "run").mockImplementation((sql, values) => {
    if (sql.startsWith("DELETE FROM webhook_subscriptions")) throw storageFull(new Error("full"));
    run(sql, values);
  });
  await expect(remove("whs_1")).rejects.toMatchObject({ code: "STORAGE_FULL" });
  spy.mockRestore();
  expect(deliveries.list({})).toMatchObject([{ status: "pending" }]);
  expect(subscriptions.list(undefined)).toHaveLength(1);
});

test.each([
  ["a URL that is none, by its field", { url: "nowhere" }, /^url must be an http or https URL/],
  [
    "metrics, which are not sent",
    { url: "https://app.example/", types: ["sandbox.metrics"] },
    /sandbox\.metrics, which webhooks do not send/,
  ],
])("a subscription is refused for %s", async (_, body, message) => {
  const { createWebhook } = webhooks.handlers(undefined, () => undefined);
  await expect(createWebhook({ body, requestId: "req_1" } as never)).rejects.toThrow(message);
  expect(subscriptions.list(undefined)).toEqual([]);
});
