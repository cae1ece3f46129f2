import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import type { Delivery } from "@cloud-sandbox/server-kit/handlers";
import pLimit, { type LimitFunction } from "p-limit";
import { type CallbackAnswer, PrivateAddressError, sendCallback } from "./callback-request.js";
import type { DeliveryRepository } from "./delivery-repository.js";
import type { WebhookOptions } from "./webhook-options.js";

/** Requests at a time, in all and to one receiver: a slow one does not hold up the others. */
const concurrency = 32;
const concurrencyPerReceiver = 4;
/** Milliseconds until it is tried again to take down an outcome that there was no room for. */
const noteAgainMs = 1000;

export interface DeliveryQueueOptions {
  readonly deliveries: DeliveryRepository;
  readonly webhooks: Required<WebhookOptions>;
  readonly log: (message: string) => void;
}

/**
 * Delivers reports, each until its receiver has confirmed it or it is given up. After every attempt the store knows how
 * it went, so that a new process goes on where this one ends: at least once, and now and then twice.
 */
export class DeliveryQueue {
  readonly #stopped = new AbortController();
  readonly #slots = pLimit(concurrency);
  readonly #receivers = new Map<string, LimitFunction>();

  constructor(private readonly options: DeliveryQueueOptions) {}

  /** Starts delivering what the store says is pending. */
  deliver(id: string): void {
    void this.#deliver(id);
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
        await this.#receiver(delivery.callbackUrl, () => this.#attempt(id));
      } catch (error) {
        if (signal.aborted) return;
        // Such as a full disk, which may be mended.
        log(`Webhook delivery ${id} is held up: ${String(error)}`);
        await sleep(webhooks.maxRetryMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
      if (!signal.aborted) delivery = deliveries.find(id);
    }
  }

  async #receiver(url: string, work: () => Promise<void>): Promise<void> {
    const { origin } = new URL(url);
    const limit = this.#receivers.get(origin) ?? pLimit(concurrencyPerReceiver);
    this.#receivers.set(origin, limit);
    try {
      await limit(() => this.#slots(work));
    } finally {
      if (limit.activeCount + limit.pendingCount === 0) this.#receivers.delete(origin);
    }
  }

  async #attempt(id: string): Promise<void> {
    const { deliveries, webhooks } = this.options;
    const { signal } = this.#stopped;
    const delivery = deliveries.find(id);
    const report = deliveries.findReport(id);
    if (delivery?.status !== "pending" || !report || signal.aborted) return;
    const { requestTimeoutMs: timeoutMs, allowPrivateAddresses, resolve } = webhooks;
    const outcome = await sendCallback(
      report.callback,
      { id, body: report.payload },
      { timeoutMs, allowPrivateAddresses, resolve, signal },
    ).catch((error: Error) => error);
    // What was broken off by our own end is tried again by the next process.
    while (!signal.aborted && !this.#isNoted(delivery, outcome))
      await sleep(noteAgainMs, undefined, { signal, ref: false });
  }

  /** Whether there was room to take down how it went: what has been delivered is not sent again for want of that. */
  #isNoted(delivery: Delivery, outcome: CallbackAnswer | Error): boolean {
    try {
      this.#note(delivery, outcome);
      return true;
    } catch (error) {
      if (error instanceof Problem && error.code === "STORAGE_FULL") return false;
      throw error;
    }
  }

  #note(delivery: Delivery, outcome: CallbackAnswer | Error): void {
    const { deliveries, webhooks, log } = this.options;
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
    deliveries.change(id, { ...tried, status: "failed", nextAttemptAt: undefined, error });
    log(`Webhook delivery ${id} to ${new URL(delivery.callbackUrl).host} failed: ${error}`);
  }
}

/** Nothing when the receiver has it. */
function failureOf(
  outcome: CallbackAnswer | Error,
  timeoutMs: number,
): { readonly message: string; readonly isFinal: boolean } | undefined {
  if (outcome instanceof PrivateAddressError) return { message: outcome.message, isFinal: true };
  if (outcome instanceof Error) return { message: unanswered(outcome, timeoutMs), isFinal: false };
  const { status } = outcome;
  if (status >= 200 && status < 300) return undefined;
  if (status === 410) return { message: "The receiver is gone for good (410).", isFinal: true };
  const redirect = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  return { message: `The receiver answered ${status}${redirect}.`, isFinal: false };
}

function unanswered(error: Error, timeoutMs: number): string {
  if (error.name === "AbortError" || error.name === "TimeoutError")
    return `There was no answer in ${timeoutMs} ms.`;
  const code = "code" in error ? ` (${String(error.code)})` : "";
  return `The receiver could not be reached, or hung up${code}.`;
}

/** Between half and all of what the number of attempts calls for, so that receivers are not hit by all at once. */
function retryDelay(
  attempts: number,
  askedFor: number | undefined,
  { firstRetryMs, maxRetryMs }: Required<WebhookOptions>,
): number {
  const most = Math.min(maxRetryMs, firstRetryMs * 3 ** (attempts - 1));
  return Math.max(most * (0.5 + Math.random() / 2), Math.min(askedFor ?? 0, maxRetryMs));
}
