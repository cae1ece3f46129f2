import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient, verifyEventWebhook } from "cloud-sandbox";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../support/free-port.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { answering, WebhookReceiver } from "../support/webhook-receiver.js";

let directory: string;
let port: number;
let server: LocalServer;
let client: SandboxClient;

const start = async (): Promise<void> => {
  const own = ["--port", String(port), "--data-dir", directory, "--webhook-allow-private"];
  server = await startLocalServer({ args: ["--pool", "1", ...own] });
};
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "event-webhooks-"));
  port = await freePort();
  await start();
  client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
});
afterEach(async () => {
  await client.close();
  await server.stop("SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

const typesAt = (receiver: WebhookReceiver): string[] =>
  receiver.received.map(({ body }) => JSON.parse(body).type);

describe("a webhook", () => {
  test("gets the events that it subscribed to, signed, and none after it was unsubscribed", async () => {
    await using receiver = await WebhookReceiver.start();
    const types = ["sandbox.created", "sandbox.deleted"] as const;
    const { id } = await client.webhooks.subscribe(receiver.url, { secret: "of the test", types });
    expect(await client.webhooks.list()).toMatchObject([{ id, url: receiver.url, types }]);
    const first = await client.sandboxes.create({ template: "base" });
    await first.commands.run("true");
    await first.delete();
    await expect.poll(() => typesAt(receiver).sort()).toEqual([...types]);
    for (const { body, headers } of receiver.received) {
      const event = await verifyEventWebhook(body, headers, "of the test");
      expect(event).toMatchObject({ sandboxId: first.id, at: expect.any(Date) });
      await expect(verifyEventWebhook(body, headers, "another")).rejects.toMatchObject({
        code: "WEBHOOK_SIGNATURE_INVALID",
      });
    }
    await client.webhooks.unsubscribe(id);
    await client.webhooks.unsubscribe(id);
    const { data: key } = await client.controlPlane.POST("/v1/keys", { body: { name: "guest" } });
    await using guest = new SandboxClient({ baseUrl: server.url, apiKey: key?.key ?? "" });
    await guest.webhooks.subscribe(receiver.url);
    await client.sandboxes.create({ template: "base" });
    const theirs = await guest.sandboxes.create({ template: "base" });
    await expect.poll(() => receiver.received.length).toBe(3);
    expect(JSON.parse(receiver.received[2]?.body ?? "")).toMatchObject({ sandbox_id: theirs.id });
    // The deliveries of the server's own webhooks are its own, whosever the sandbox is.
    const { data: deliveries } = await guest.controlPlane.GET("/v1/webhook-deliveries");
    expect(deliveries?.data.map(({ sandbox_id }) => sandbox_id)).toEqual([theirs.id]);
  });

  test("gets each event, whenever the server is killed", { timeout: 120_000 }, async () => {
    await using receiver = await WebhookReceiver.start(answering(503));
    await client.webhooks.subscribe(receiver.url, { types: ["sandbox.created"] });
    const made: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const created = await Promise.all([1, 2, 3].map(() => client.sandboxes.create({ template: "base" })));
      made.push(...created.map(({ id }) => id));
      await server.stop("SIGKILL");
      await start();
    }
    receiver.behave = answering(200);
    const taken = () =>
      new Set(
        receiver.received
          .map(({ body }) => JSON.parse(body))
          .map(({ id, sandbox_id }) => `${id} ${sandbox_id}`),
      );
    await expect
      .poll(() => [...taken()].map((each) => each.split(" ")[1]).sort(), { timeout: 60_000 })
      .toEqual(made.sort());
  });

  test("must have a public address, unless the server allows others", async () => {
    const strict = await startLocalServer({ args: ["--pool", "0"] });
    await using own = new SandboxClient({ baseUrl: strict.url, apiKey: strict.apiKey });
    await expect(own.webhooks.subscribe("http://127.0.0.1:9/")).rejects.toThrow(/--webhook-allow-private/);
    await strict.stop();
  });
});
