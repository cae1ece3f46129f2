import type { Sandbox } from "cloud-sandbox";
import { expect } from "vitest";
import type { Received, WebhookReceiver } from "./webhook-receiver.js";

export interface AsyncRequest {
  readonly callback_url: string;
  readonly code: string;
  readonly [field: string]: unknown;
}

/** Starts an asynchronous execution of Bash code. Resolves with the answer, also with a refusal. */
export const startIn = (where: Sandbox, body: AsyncRequest) =>
  where.agent.POST("/execute/async", { body: { language: "bash", timeout: 60, ...body } });

/** Starts an asynchronous execution. Resolves with its id, and throws if it is refused. */
export async function start(where: Sandbox, body: AsyncRequest): Promise<string> {
  const { data, error } = await startIn(where, body);
  if (!data) throw new Error(JSON.stringify(error));
  return data.execution_id;
}

/** Waits until the receiver has a report of an execution. Resolves with all reports of it so far. */
export async function reports(receiver: WebhookReceiver, executionId: string): Promise<readonly Received[]> {
  const those = () => receiver.received.filter(({ body }) => JSON.parse(body).execution_id === executionId);
  await expect.poll(() => those().length).toBeGreaterThan(0);
  return those();
}

/** Waits for the first report of an execution. */
export async function report(
  receiver: WebhookReceiver,
  executionId: string,
): Promise<Record<string, unknown>> {
  const [first] = await reports(receiver, executionId);
  return JSON.parse(first?.body ?? "{}");
}
