import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import { describe, expect, onTestFinished, test } from "vitest";
import { answering, WebhookReceiver } from "../../../../test/support/webhook-receiver.js";
import { storageFull } from "../../src/store/storage-problem.js";
import { openStore } from "../../src/store/store.js";
import { DeliveryRepository } from "../../src/webhooks/delivery-repository.js";
import { newDeliveryId } from "../../src/webhooks/webhooks.js";
import { agentSaying, done, ended, type Given, nowhere, running, webhooks } from "../support/webhook-rig.js";

describe("the end of an asynchronous execution", () => {
  test("is reported; the agent is asked with a token of ours", async () => {
    await using receiver = await WebhookReceiver.start();
    const { execute, deliveries, agent, log } = await webhooks({
      answer: (asked, count) => agentSaying(count < 3 ? running : ended)(asked),
    });
    await execute({ code: "1", callback_url: receiver.url, callback_headers: { "x-mine": "1" } });
    const delivery = await done(await deliveries());
    expect(delivery).toMatchObject({ sandboxId: "s", executionId: "e1", attempts: 1, responseStatus: 200 });
    expect(delivery.queuedAt?.getTime()).toBeGreaterThanOrEqual(delivery.createdAt.getTime());
    expect(receiver.received).toHaveLength(1);
    expect(JSON.parse(receiver.received[0]?.body ?? "")).toMatchObject({
      execution_id: "e1",
      sandbox_id: "s",
      status: "completed",
    });
    expect(receiver.received[0]?.headers["x-mine"]).toBe("1");
    const question = agent.asked.find(({ url }) => url.startsWith("/execute/processes/"));
    expect({ method: question?.method, token: question?.headers.authorization }).toEqual({
      method: "GET",
      token: "Bearer own token of s",
    });
    expect(log).toEqual([]);
  });

  test("is stored as soon as there is room for it", async () => {
    await using receiver = await WebhookReceiver.start();
    const store = await openStore();
    onTestFinished(async () => void (await store.close()));
    const database = await store.database();
    const run = database.run.bind(database);
    let refused = 0;
    database.run = (sql, values) => {
      if (sql.startsWith("UPDATE") && refused++ < 1) throw storageFull(new Error("full"));
      run(sql, values);
    };
    const { execute, deliveries, log } = await webhooks({ store });
    await execute({ code: "1", callback_url: receiver.url });
    await done(await deliveries());
    expect(refused).toBeGreaterThan(1);
    expect(receiver.received).toHaveLength(1);
    expect(log).toEqual([]);
  });

  test.each([
    ["another error", () => new Error("broken")],
    ["another problem", () => new Problem(500, "INTERNAL_ERROR", "broken")],
  ])("that cannot be stored because of %s is logged", async (_, error) => {
    const store = await openStore();
    onTestFinished(async () => void (await store.close()));
    const database = await store.database();
    const run = database.run.bind(database);
    let tries = 0;
    database.run = (sql, values) => {
      if (sql.startsWith("UPDATE")) {
        tries += 1;
        throw error();
      }
      run(sql, values);
    };
    const { execute, log } = await webhooks({ store });
    await execute({ code: "1", callback_url: nowhere });
    await expect
      .poll(() => log)
      .toEqual([expect.stringMatching(/^Webhook delivery whd_\w+ was not queued: .*broken/)]);
    expect(tries).toBe(1);
  });

  test("is listed as a delivery, and can be delivered again when it is done", async () => {
    await using receiver = await WebhookReceiver.start();
    const { execute, deliveries, call } = await webhooks();
    await execute({ code: "1", callback_url: receiver.url });
    const { id } = await done(await deliveries());
    expect((await call("/v1/webhook-deliveries")).body.data).toMatchObject([{ id, status: "delivered" }]);
    const again = await call(`/v1/webhook-deliveries/${id}/redeliver`, { method: "POST" });
    expect(again.body).toMatchObject({ id, status: "pending", attempts: 0 });
    await expect.poll(() => receiver.received.length).toBe(2);
    await done(await deliveries());
    const [first, second] = receiver.received;
    expect(second?.body).toBe(first?.body);
  });

  test("is delivered again once when several requests come in one piece", async () => {
    await using receiver = await WebhookReceiver.start();
    const { execute, deliveries, url } = await webhooks();
    await execute({ code: "1", callback_url: receiver.url });
    const known = await deliveries();
    const { id } = await done(known);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const request = `POST /v1/webhook-deliveries/${id}/redeliver HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    socket.write(request.repeat(3));
    await expect.poll(() => receiver.received.length).toBeGreaterThan(1);
    await expect.poll(() => known.find(id)).toMatchObject({ status: "delivered", attempts: 1 });
    await sleep(100);
    socket.destroy();
    expect(receiver.received).toHaveLength(2);
  });
});

describe("a new server process", () => {
  /**
   * Starts webhooks with a store in a directory. `before` writes to the store what an earlier process has left there.
   */
  const inDirectory = async (before: (known: DeliveryRepository) => void, given: Given = {}) => {
    const directory = await mkdtemp(join(tmpdir(), "webhooks-test-"));
    const store = await openStore(directory);
    onTestFinished(async () => {
      await store.close();
      await rm(directory, { recursive: true });
    });
    before(new DeliveryRepository(await store.database()));
    return webhooks({ ...given, store });
  };
  const left = (known: DeliveryRepository, url: string, isPending: boolean) => {
    const id = newDeliveryId();
    const createdAt = new Date();
    known.add({ id, sandboxId: "s", executionId: "old", createdAt }, { url, headers: {}, secret: undefined });
    if (isPending)
      known.change(id, { status: "pending", queuedAt: createdAt, nextAttemptAt: createdAt, payload: "{}" });
    return id;
  };

  test.each([
    ["delivers what was to be delivered", true, 0],
    ["follows what ran", false, 1],
  ])("%s", async (_, isPending, questions) => {
    await using receiver = await WebhookReceiver.start();
    const {
      webhooks: made,
      deliveries,
      agent,
    } = await inDirectory((known) => left(known, receiver.url, isPending));
    await made.resume();
    await done(await deliveries());
    expect(receiver.received).toHaveLength(1);
    expect(agent.asked).toHaveLength(questions);
  });

  test("with a store in memory has nothing to continue, and creates no database", async () => {
    const memory = await openStore();
    let opened = 0;
    const database = () => {
      opened += 1;
      return memory.database();
    };
    const { webhooks: made } = await webhooks({ store: { ...memory, database } });
    await made.resume();
    expect(opened).toBe(0);
    await memory.close();
  });

  test("delivers nothing more when it is closed, and closes without an error", async () => {
    await using receiver = await WebhookReceiver.start(answering(500));
    const {
      webhooks: made,
      agent,
      log,
      deliveries,
    } = await inDirectory(
      (known) => {
        left(known, receiver.url, true);
        left(known, nowhere, false);
      },
      { answer: () => running, options: { firstRetryMs: 300, maxRetryMs: 300 } },
    );
    await made.resume();
    await expect.poll(() => receiver.received.length > 0 && agent.asked.length > 0).toBe(true);
    await made.close();
    const before = [receiver.received.length, agent.asked.length];
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect([receiver.received.length, agent.asked.length]).toEqual(before);
    expect(
      (await deliveries())
        .list({})
        .map(({ status }) => status)
        .sort(),
    ).toEqual(["pending", "waiting"]);
    expect(log.filter((line) => /not queued/.test(line))).toEqual([]);
  });

  test("can be closed before it has done anything", async () => {
    const { webhooks: made } = await webhooks();
    await made.close();
  });
});
