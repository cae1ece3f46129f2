import { createHmac } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { describe, expect, test } from "vitest";
import { report, reports, start, startIn } from "../support/async-executions.js";
import { startLocalServer } from "../support/local-server.js";
import { answering, WebhookReceiver } from "../support/webhook-receiver.js";

describe("a server", () => {
  test("sends nothing to private addresses unless it was told to", async () => {
    const server = await startLocalServer({ args: ["--pool", "0"] });
    await using own = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    const created = await own.sandboxes.create({ template: "base" });
    const { response, error } = await startIn(created, { code: "1", callback_url: "http://127.0.0.1:9/" });
    expect(response.status).toBe(400);
    expect(error?.message).toMatch(/--webhook-allow-private/);
    await server.stop();
  });

  test("that was killed delivers missing reports after its restart, and reports the end of what ran", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "webhooks-"));
    const args = ["--pool", "0", "--webhook-allow-private", "--data-dir", dataDir];
    await using receiver = await WebhookReceiver.start(answering(503));
    const first = await startLocalServer({ args });
    const own = new SandboxClient({ apiKey: first.apiKey, baseUrl: first.url });
    const created = await own.sandboxes.create({ template: "base" });
    const running = await start(created, { code: "sleep 600", timeout: 600, callback_url: receiver.url });
    const done = await start(created, {
      code: "echo kept",
      callback_url: receiver.url,
      callback_headers: { "X-Own": "kept" },
      callback_signature_secret: "kept",
    });
    // Wait until the code has ended and the receiver has refused its report.
    await reports(receiver, done);
    await first.stop("SIGKILL");
    await own.close();
    const before = receiver.received.length;
    receiver.behave = answering(200);

    const second = await startLocalServer({ args });
    const delivered = () => receiver.received.slice(before).filter(({ body }) => body.includes(done));
    await expect.poll(() => delivered().length).toBe(1);
    const [again] = delivered();
    expect(JSON.parse(again?.body ?? "")).toMatchObject({ status: "completed", stdout: "kept\n" });
    expect(again?.headers).toMatchObject({
      "x-own": "kept",
      "x-hopx-signature": `sha256=${createHmac("sha256", "kept")
        .update(again?.body ?? "")
        .digest("hex")}`,
    });
    expect(await report(receiver, running)).toMatchObject({ status: "failed", success: false });
    await second.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
});
