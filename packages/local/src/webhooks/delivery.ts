import { randomBytes } from "node:crypto";

/** `waiting` for the code to end, `pending` until it is `delivered`, or given up: `failed`. */
export const deliveryStatuses = ["waiting", "pending", "delivered", "failed"] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The report of one execution's end, as far as it may be shown. */
export interface Delivery {
  /** Grows with time. */
  readonly id: string;
  readonly sandboxId: string;
  readonly executionId: string;
  readonly callbackUrl: string;
  readonly status: DeliveryStatus;
  readonly createdAt: Date;
  /** When there was something to deliver; again when it was asked for again. */
  readonly queuedAt: Date | undefined;
  readonly attempts: number;
  readonly nextAttemptAt: Date | undefined;
  readonly lastAttemptAt: Date | undefined;
  /** The status of the last answer. */
  readonly responseStatus: number | undefined;
  /** Why the last attempt was none that counts, or why it was given up. */
  readonly error: string | undefined;
}

export const newDeliveryId = (): string => `whd_${Date.now()}${randomBytes(6).toString("hex")}`;
