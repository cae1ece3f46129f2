import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import type { Delivery } from "@cloud-sandbox/server-kit/handlers";
import pLimit, { type LimitFunction } from "p-limit";
import { FairSlots } from "../addresses/fair-slots.js";
import { stopOfMany } from "../relay/stop-of-many.js";
import { type CallbackAnswer, PrivateAddressError, sendCallback } from "./callback-request.js";
import type { DeliveryChange, DeliveryRepository } from "./delivery-repository.js";
import type { WebhookOptions } from "./webhook-options.js";

/** Concurrent requests in all, and of one key to one receiver, so that a slow receiver does not hold up the others. */
const concurrency = 32;
const concurrencyPerReceiver = 4;
/** The pause before saving an attempt's outcome is tried again when the data directory is full. */
const saveRetryMs = 1000;

export interface DeliveryQueueOptions {
  readonly deliveries: DeliveryRepository;
  readonly webhooks: Required<WebhookOptions>;
  /** Whether an API key may still be used. */
  readonly isUsable: (keyId: string | undefined) => boolean;
  readonly log: (message: string) => void;
}

/**
 * Delivers each report until its receiver confirms it or it is given up. The outcome of every attempt is saved, so that a
 * new process continues where this one ends. A report is delivered at least once, in rare cases twice.
 */
export class DeliveryQueue {
  readonly #stopped = stopOfMany();
  readonly #slots = new FairSlots(concurrency);
  readonly #receivers = new Map<string, LimitFunction>();

  constructor(private readonly options: DeliveryQueueOptions) {}

  /** Starts to deliver the pending report with this id. */
  deliver(id: string): void {
    this.#deliver(id).catch((error: unknown) =>
      this.options.log(`Webhook delivery ${id} stays pending until the next start: ${String(error)}`),
    );
  }

  close(): void {
    this.#stopped.abort();
  }

  async #deliver(id: string): Promise<void> {
    const { deliveries, webhooks, log } = this.options;
    const { signal } = this.#stopped;
    let delivery = deliveries.find(id);
    while (delivery?.status === "pending" && !signal.aborted) {
      const wait = Number(delivery.nextAttemptAt ?? 0) - Date.now();
      try {
        if (wait > 0) await sleep(wait, undefined, { signal, ref: false });
        const { keyId } = deliveries.findReport(id) ?? {};
        await this.#receiver(delivery.callbackUrl, keyId, () => this.#attempt(id));
      } catch (error) {
        if (signal.aborted) return;
        // Saving the delivery failed, for example on a full disk. The operator may fix that, so try again later.
        log(`Webhook delivery ${id} is delayed by an error and will be tried again: ${String(error)}`);
        await sleep(webhooks.maxRetryMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
      if (!signal.aborted) delivery = deliveries.find(id);
    }
  }

  async #receiver(url: string, keyId: string | undefined, work: () => Promise<void>): Promise<void> {
    const receiver = `${keyId ?? ""} ${new URL(url).origin}`;
    const limit = this.#receivers.get(receiver) ?? pLimit(concurrencyPerReceiver);
    this.#receivers.set(receiver, limit);
    try {
      await limit(() => this.#slots.run(keyId ?? "", work));
    } finally {
      if (limit.activeCount + limit.pendingCount === 0) this.#receivers.delete(receiver);
    }
  }

  async #attempt(id: string): Promise<void> {
    const { deliveries, webhooks, isUsable } = this.options;
    const { signal } = this.#stopped;
    const delivery = deliveries.find(id);
    const report = deliveries.findReport(id);
    if (delivery?.status !== "pending" || !report || signal.aborted) return;
    if (!isUsable(report.keyId)) {
      this.#giveUp(delivery, {}, "The API key was revoked or has expired.");
      return;
    }
    const { requestTimeoutMs: timeoutMs, allowPrivateAddresses, resolve } = webhooks;
    const outcome = await sendCallback(
      report.callback,
      { id, body: report.payload },
      { timeoutMs, allowPrivateAddresses, resolve, signal },
    ).catch((error: Error) => error);
    // An attempt that the shutdown aborted is not saved: the next process repeats it.
    while (!signal.aborted && !this.#trySave(delivery, outcome))
      await sleep(saveRetryMs, undefined, { signal, ref: false });
  }

  /** Saves an outcome; false if the data directory is full. Then only the save is repeated, not the delivery. */
  #trySave(delivery: Delivery, outcome: CallbackAnswer | Error): boolean {
    try {
      this.#save(delivery, outcome);
      return true;
    } catch (error) {
      if (error instanceof Problem && error.code === "STORAGE_FULL") return false;
      throw error;
    }
  }

  #save(delivery: Delivery, outcome: CallbackAnswer | Error): void {
    const { deliveries, webhooks } = this.options;
    const { id } = delivery;
    const attempts = delivery.attempts + 1;
    const tried = {
      attempts,
      lastAttemptAt: new Date(),
      responseStatus: outcome instanceof Error ? undefined : outcome.status,
    };
    const failure = failureOf(outcome, webhooks.requestTimeoutMs);
    if (failure === undefined) {
      deliveries.change(id, { ...tried, status: "delivered", nextAttemptAt: undefined, error: undefined });
      return;
    }
    if (deliveries.find(id)?.status !== "pending") {
      // It was given up during the attempt, because its webhook was deleted.
      deliveries.change(id, tried);
      return;
    }
    const delay = retryDelay(attempts, outcome instanceof Error ? undefined : outcome.retryAfterMs, webhooks);
    const age = Date.now() + delay - Number(delivery.queuedAt ?? delivery.createdAt);
    if (!failure.isFinal && attempts < webhooks.maxAttempts && age <= webhooks.maxAgeMs) {
      deliveries.change(id, {
        ...tried,
        nextAttemptAt: new Date(Date.now() + delay),
        error: failure.message,
      });
      return;
    }
    const error = `${failure.message} Given up after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}.`;
    this.#giveUp(delivery, tried, error);
  }

  #giveUp({ id, callbackUrl }: Delivery, tried: DeliveryChange, error: string): void {
    const { deliveries, log } = this.options;
    deliveries.change(id, { ...tried, status: "failed", nextAttemptAt: undefined, error });
    log(`Webhook delivery ${id} to ${new URL(callbackUrl).host} failed: ${error}`);
  }
}

/** Why an attempt failed; undefined if the receiver accepted the report. */
function failureOf(
  outcome: CallbackAnswer | Error,
  timeoutMs: number,
): { readonly message: string; readonly isFinal: boolean } | undefined {
  if (outcome instanceof PrivateAddressError) return { message: outcome.message, isFinal: true };
  if (outcome instanceof Error) return { message: unanswered(outcome, timeoutMs), isFinal: false };
  const { status } = outcome;
  if (status >= 200 && status < 300) return undefined;
  if (status === 410) return { message: "The receiver answered 410: it is gone for good.", isFinal: true };
  const redirect = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  return { message: `The receiver answered ${status}${redirect}.`, isFinal: false };
}

function unanswered(error: Error, timeoutMs: number): string {
  if (error.name === "AbortError" || error.name === "TimeoutError")
    return `The receiver did not answer within ${timeoutMs} ms.`;
  const code = "code" in error ? ` (${String(error.code)})` : "";
  return `The receiver could not be reached, or closed the connection without an answer${code}.`;
}

/** The exponential delay before the next attempt, randomized between half and all of it, so that retries do not come at the same time. */
function retryDelay(
  attempts: number,
  askedFor: number | undefined,
  { firstRetryMs, maxRetryMs }: Required<WebhookOptions>,
): number {
  const most = Math.min(maxRetryMs, firstRetryMs * 3 ** (attempts - 1));
  return Math.max(most * (0.5 + Math.random() / 2), Math.min(askedFor ?? 0, maxRetryMs));
}
