import { type Sandbox, verifyWebhook } from "cloud-sandbox";
import { describe, expect, test } from "vitest";
import { WebhookReceiver } from "../support/webhook-receiver.js";

/**
 * What every backend must do with code whose end is reported. The backend must be able to send requests to this
 * machine.
 */
export function webhookSuite(sandbox: () => Sandbox): void {
  describe("asynchronous executions", () => {
    test.each([
      ["print(6 * 7)", { status: "completed", stdout: "42\n", exit_code: 0 }, 60],
      ["raise SystemExit(3)", { status: "failed", stdout: "", exit_code: 3 }, 60],
      ["import time; time.sleep(60)", { status: "timeout" }, 2],
    ])("are answered at once, and their end is reported: %s", async (code, expected, timeout) => {
      await using receiver = await WebhookReceiver.start();
      const body = { code, language: "python", timeout, callback_url: receiver.url };
      const { data } = await sandbox().agent.POST("/execute/async", { body });
      expect(data).toMatchObject({ status: "queued", callback_url: receiver.url });
      await expect.poll(() => receiver.received.length).toBe(1);
      expect(JSON.parse(receiver.received[0]?.body ?? "")).toMatchObject({
        execution_id: data?.execution_id,
        ...expected,
      });
      const { data: list } = await sandbox().agent.GET("/execute/processes");
      expect(list?.processes.map(({ execution_id }) => execution_id)).toContain(data?.execution_id);
    });

    test("are told by a signed report that verifyWebhook believes, and nobody else's secret", async () => {
      await using receiver = await WebhookReceiver.start();
      const callbackSecret = "a secret of the suite";
      const job = await sandbox().executeAsync("print('grüße')", receiver.url, {
        callbackSecret,
        timeoutSeconds: 60,
      });
      await expect.poll(() => receiver.received.length).toBe(1);
      const [{ body, headers }] = receiver.received as [(typeof receiver.received)[number]];
      const report = await verifyWebhook(body, headers, callbackSecret);
      expect(report).toMatchObject({ status: "completed", success: true, stdout: "grüße\n", exitCode: 0 });
      await expect(verifyWebhook(body, headers, "another")).rejects.toMatchObject({
        code: "WEBHOOK_SIGNATURE_INVALID",
      });
      expect(await job.wait()).toMatchObject({ status: "completed" });
    });

    test("have one id: in the answer, in the report, in the list of jobs, and for the one who asks", async () => {
      await using receiver = await WebhookReceiver.start();
      const job = await sandbox().executeAsync("print(1)", receiver.url, { timeoutSeconds: 60 });
      await expect.poll(() => receiver.received.length).toBe(1);
      expect(JSON.parse(receiver.received[0]?.body ?? "")).toMatchObject({ execution_id: job.id });
      expect(await job.status()).toMatchObject({ id: job.id, status: "completed" });
      const { data } = await sandbox().agent.GET("/execute/processes");
      const those = data?.processes.filter(({ execution_id }) => execution_id === job.id);
      expect(those?.map(({ process_id }) => process_id)).toEqual([job.id]);
    });
  });
}
