import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { ControlPlaneContract } from "../../generated/control-plane-contract.js";
import type { Exchange } from "../../http/exchange.js";
import { Problem } from "../../http/problem.js";
import type { Handlers } from "../../router/handlers.js";
import { pageOf } from "../../router/page.js";

/** `waiting`: the code still runs. `pending`: to be delivered. `delivered`: done. `failed`: given up. */
export const deliveryStatuses = ["waiting", "pending", "delivered", "failed"] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The facts that callers may see about the webhook delivery that reports the end of one execution. */
export interface Delivery {
  /** Id of the delivery. Later deliveries have greater ids, so ids sort by age. */
  readonly id: string;
  readonly sandboxId: string;
  readonly executionId: string;
  readonly callbackUrl: string;
  readonly status: DeliveryStatus;
  readonly createdAt: Date;
  /** When the report was queued, or queued again on request. Undefined while the code still runs. */
  readonly queuedAt: Date | undefined;
  readonly attempts: number;
  readonly nextAttemptAt: Date | undefined;
  readonly lastAttemptAt: Date | undefined;
  /** HTTP status of the receiver's last answer. */
  readonly responseStatus: number | undefined;
  /** Why the last attempt failed, or why the delivery was given up. */
  readonly error: string | undefined;
}

/** The webhook deliveries that are stored. */
export interface Deliveries {
  find(id: string): Delivery | undefined;
  list(filter: { sandboxId: string | undefined; status: DeliveryStatus | undefined }): readonly Delivery[];
  /** Delivers a finished delivery again. It is pending as soon as this is called. */
  redeliver(id: string): Promise<void>;
}

const listUrl = "/v1/webhook-deliveries";

/** The operations on webhook deliveries. Answers never contain headers, the secret or the body that is delivered. */
export function deliveryHandlers(deliveries: () => Deliveries | Promise<Deliveries>) {
  const find = (known: Deliveries, id: string): Delivery => {
    const delivery = known.find(id);
    if (delivery) return delivery;
    const message = "There is no webhook delivery with that id.";
    throw new Problem(404, "WEBHOOK_DELIVERY_NOT_FOUND", message, {
      hint: "List the deliveries to see those that are stored.",
    });
  };
  return {
    listWebhookDeliveries: async ({ query, requestId }) => {
      const { sandbox_id: sandboxId, status, limit, cursor } = query;
      const matching = (await deliveries()).list({ sandboxId, status });
      const { items, nextCursor } = pageOf(matching, ({ id }) => id, { limit, cursor });
      return {
        object: "list",
        data: items.map((delivery) => deliveryOnWire(delivery)),
        has_more: nextCursor !== undefined,
        ...(nextCursor !== undefined && { next_cursor: nextCursor }),
        url: listUrl,
        request_id: requestId,
      };
    },

    getWebhookDelivery: async ({ params, requestId }) => ({
      ...deliveryOnWire(find(await deliveries(), params.id)),
      request_id: requestId,
    }),

    redeliverWebhook: async ({ params, requestId }) => {
      const known = await deliveries();
      // Do not wait between this look and `redeliver`: another request could deliver it again meanwhile.
      const { id, status } = find(known, params.id);
      if (status === "waiting" || status === "pending") {
        const reason = status === "waiting" ? "the code still runs" : "its next attempt is still to come";
        throw new Problem(409, "CONFLICT", `Webhook delivery ${id} is not done yet: ${reason}.`, {
          hint: "Wait until its status is delivered or failed.",
        });
      }
      await known.redeliver(id);
      return { ...deliveryOnWire(find(known, id)), request_id: requestId };
    },
  } satisfies Handlers<ControlPlaneContract, unknown, Exchange>;
}

function deliveryOnWire(delivery: Delivery): ControlPlaneSchemas["WebhookDelivery"] {
  const { queuedAt, nextAttemptAt, lastAttemptAt, responseStatus, error } = delivery;
  return {
    id: delivery.id,
    object: "webhook_delivery",
    sandbox_id: delivery.sandboxId,
    execution_id: delivery.executionId,
    callback_url: shownUrl(delivery.callbackUrl),
    status: delivery.status,
    attempts: delivery.attempts,
    created_at: delivery.createdAt.toISOString(),
    ...(queuedAt && { queued_at: queuedAt.toISOString() }),
    ...(nextAttemptAt && { next_attempt_at: nextAttemptAt.toISOString() }),
    ...(lastAttemptAt && { last_attempt_at: lastAttemptAt.toISOString() }),
    ...(responseStatus !== undefined && { response_status: responseStatus }),
    ...(error !== undefined && { error }),
  };
}

/** A URL without user name, password, query and fragment, which may contain secrets. */
function shownUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + pathname;
}
