import { expect } from "vitest";
import { answering, WebhookReceiver } from "../../support/webhook-receiver.js";
import { type Bench, type Proof, proof, success } from "./proof.js";

export const webhookProofs: Readonly<Record<string, Proof>> = {
  listWebhookDeliveries: proof("lists the reports of a sandbox's asynchronous executions", async (bench) => {
    await withDelivery(bench, async ({ id, execution_id }) => {
      const query = { sandbox_id: bench.sandbox.id, status: "delivered" } as const;
      const { data } = await success(bench.controlPlane.GET("/v1/webhook-deliveries", { params: { query } }));
      expect(data.find((delivery) => delivery.id === id)).toMatchObject({ execution_id, attempts: 1 });
    });
  }),

  getWebhookDelivery: proof("tells how one stands, and of none that never was", async (bench) => {
    await withDelivery(bench, async ({ id, callback_url }) => {
      const get = (which: string) =>
        bench.controlPlane.GET("/v1/webhook-deliveries/{id}", { params: { path: { id: which } } });
      expect(await success(get(id))).toMatchObject({ id, callback_url, status: "delivered" });
      const { error } = await get("whd_0");
      expect(error).toMatchObject({ code: "WEBHOOK_DELIVERY_NOT_FOUND" });
    });
  }),

  redeliverWebhook: proof("sends a report again", async (bench) => {
    await withDelivery(bench, async ({ id }, receiver) => {
      const params = { path: { id } };
      await success(bench.controlPlane.POST("/v1/webhook-deliveries/{id}/redeliver", { params }));
      await expect.poll(() => receiver.received.length).toBe(2);
      const [first, again] = receiver.received;
      expect(again?.body).toBe(first?.body);
    });
  }),
};

interface Delivered {
  readonly id: string;
  readonly execution_id: string;
  readonly callback_url: string;
}

/** Runs code whose end is reported to a receiver, and waits for the delivery. */
async function withDelivery(
  { agent, controlPlane, sandbox }: Bench,
  use: (delivery: Delivered, receiver: WebhookReceiver) => Promise<void>,
): Promise<void> {
  await using receiver = await WebhookReceiver.start(answering(200));
  const body = { code: "echo done", language: "bash", callback_url: receiver.url };
  const { execution_id } = await success(agent.POST("/execute/async", { body }));
  const params = { query: { sandbox_id: sandbox.id } };
  const find = async () => {
    const { data } = await success(controlPlane.GET("/v1/webhook-deliveries", { params }));
    return data.find((delivery) => delivery.execution_id === execution_id);
  };
  await expect.poll(async () => (await find())?.status).toBe("delivered");
  await use({ id: (await find())?.id ?? "", execution_id, callback_url: receiver.url }, receiver);
}
