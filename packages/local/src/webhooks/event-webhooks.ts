import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type Handlers, Problem, Reply } from "@cloud-sandbox/server-kit";
import type { ControlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import { eventOnWire, type KeptEvent } from "@cloud-sandbox/server-kit/handlers";
import type { EventLog } from "../store/event-log.js";
import { parseCallback } from "./callback.js";
import type { DeliveryQueue } from "./delivery-queue.js";
import type { DeliveryRepository } from "./delivery-repository.js";
import type { Subscription, SubscriptionRepository } from "./subscription-repository.js";

/** Subscriptions of one API key, and deliveries of one subscription that may wait to be received. */
const mostSubscriptions = 20;
const mostPending = 200;
/** Events that are queued at a time. */
const batch = 50;
/** Milliseconds after which a subscription is looked at again whose receiver is behind, or that failed. */
const behindMs = 1000;
/** The pause before all of them are looked at again after an error. */
const retryMs = 1000;

interface Opened {
  readonly subscriptions: SubscriptionRepository;
  readonly deliveries: DeliveryRepository;
  readonly queue: DeliveryQueue;
}

export interface EventWebhooksParts {
  readonly events: EventLog;
  readonly open: () => Promise<Opened>;
  readonly newId: () => string;
  readonly allowPrivateAddresses: boolean;
  readonly isUsable: (keyId: string | undefined) => boolean;
  readonly log: (message: string) => void;
}

/**
 * Delivers events to the URLs that subscribed to them. An event is queued in the transaction that moves its subscription on, so each
 * is queued once, whenever this process is killed.
 */
export class EventWebhooks {
  readonly #stopped = new AbortController();
  /** The subscriptions whose last events could not be queued. */
  readonly #failing = new Set<string>();
  #running: Promise<void> | undefined;

  constructor(private readonly parts: EventWebhooksParts) {}

  /** Continues the subscriptions of an earlier process. */
  resume({ subscriptions }: Opened): void {
    if (subscriptions.list(undefined).length > 0) this.#run();
  }

  close(): void {
    this.#stopped.abort();
  }

  /** The operations on the subscriptions of an API key; undefined is the server's own. */
  handlers(keyId: string | undefined, requireSeen: (sandboxId: string) => void) {
    const { parts } = this;
    const find = ({ subscriptions }: Opened, id: string): Subscription => {
      const found = subscriptions.list(keyId).find((subscription) => subscription.id === id);
      if (found) return found;
      throw new Problem(404, "WEBHOOK_NOT_FOUND", "There is no webhook with that id.", {
        hint: "List the webhooks to see those that there are.",
      });
    };
    return {
      createWebhook: async ({ body, requestId }) => {
        const opened = await parts.open();
        const { url, secret, types, sandbox_id: sandboxId } = body;
        const callback = parseCallback(
          { callback_url: url, callback_signature_secret: secret },
          parts.allowPrivateAddresses,
          "url",
        );
        if (types?.includes("sandbox.metrics")) throw notSent();
        if (sandboxId !== undefined) requireSeen(sandboxId);
        const all = opened.subscriptions.list(keyId).filter((each) => each.keyId === keyId);
        if (all.length >= mostSubscriptions) throw tooMany();
        const id = `whs_${randomBytes(8).toString("hex")}`;
        const cursor = parts.events.last;
        const subscription = { id, keyId, callback, types, sandboxId, cursor, createdAt: new Date() };
        opened.subscriptions.add(subscription);
        this.#run();
        const answer = { ...onWire(subscription), request_id: requestId };
        return new Reply(JSON.stringify(answer), { "content-type": "application/json" }, 201);
      },

      listWebhooks: async ({ requestId }) => ({
        object: "list",
        data: (await parts.open()).subscriptions.list(keyId).map(onWire),
        url: "/v1/webhooks",
        request_id: requestId,
      }),

      deleteWebhook: async ({ params, requestId }) => {
        const opened = await parts.open();
        const { id } = find(opened, params.id);
        opened.subscriptions.remove(id, () => opened.deliveries.failEvents(id, "The webhook was deleted."));
        this.#failing.delete(id);
        return { id, object: "webhook", deleted: true, request_id: requestId };
      },
    } satisfies Handlers<ControlPlaneContract, unknown>;
  }

  #run(): void {
    this.#running ??= this.#keepDelivering();
  }

  /** Delivers again after an error, for example on a full disk: the operator may fix that. */
  async #keepDelivering(): Promise<void> {
    const { signal } = this.#stopped;
    let isFailing = false;
    while (!signal.aborted) {
      try {
        await this.#deliver(() => {
          isFailing = false;
        });
      } catch (error) {
        if (signal.aborted) return;
        if (!isFailing)
          this.parts.log(`Events are delayed by an error and will be delivered later: ${String(error)}`);
        isFailing = true;
        await sleep(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  /** `onRound`: called when all subscriptions were looked at. */
  async #deliver(onRound: () => void): Promise<void> {
    const { events, open } = this.parts;
    const { signal } = this.#stopped;
    const opened = await open();
    while (!signal.aborted) {
      const { last } = events;
      let isBehind = false;
      let hasMore = false;
      for (const subscription of opened.subscriptions.list(undefined)) {
        const state = this.#tryQueueNext(opened, subscription, last);
        isBehind ||= state === "behind";
        hasMore ||= state === "more";
      }
      onRound();
      if (hasMore || events.last > last) {
        // Other work of the server comes first.
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      const next = AbortSignal.any([signal, ...(isBehind ? [AbortSignal.timeout(behindMs)] : [])]);
      await events.next(next);
    }
  }

  /** Queues the next events of a subscription. If that fails, it is behind, and does not hold up the others. */
  #tryQueueNext(opened: Opened, subscription: Subscription, last: number): "done" | "more" | "behind" {
    const { id } = subscription;
    try {
      const state = this.#queueNext(opened, subscription, last);
      this.#failing.delete(id);
      return state;
    } catch (error) {
      if (!this.#failing.has(id))
        this.parts.log(
          `Events for webhook ${id} are delayed by an error and will be delivered later: ${String(error)}`,
        );
      this.#failing.add(id);
      return "behind";
    }
  }

  /** Queues the next events of a subscription. */
  #queueNext(opened: Opened, subscription: Subscription, last: number): "done" | "more" | "behind" {
    const { events, isUsable, log } = this.parts;
    const { id, keyId, types, sandboxId } = subscription;
    if (!isUsable(keyId) || subscription.cursor >= last) return "done";
    const { subscriptions, deliveries, queue } = opened;
    const capacity = mostPending - deliveries.countOf(id);
    if (capacity <= 0) return "behind";
    const gone = events.goneUntil(keyId);
    if (gone > subscription.cursor)
      log(`Webhook ${id} is so far behind that events are not kept any more, and misses some.`);
    const from = Math.max(subscription.cursor, gone);
    const limit = Math.min(capacity, batch);
    const view = { keyId, sandboxId, types: types && new Set(types) };
    const found = events.after(from, view, limit);
    const queued: string[] = [];
    const cursor = found.length < limit ? last : (found.at(-1)?.sequence ?? last);
    subscriptions.moveOn(id, Math.max(cursor, found.at(-1)?.sequence ?? 0), () => {
      for (const event of found) queued.push(this.#add(deliveries, subscription, event));
    });
    for (const delivery of queued) queue.deliver(delivery);
    return found.length < limit ? "done" : "more";
  }

  #add(deliveries: DeliveryRepository, { id, keyId, callback }: Subscription, event: KeptEvent): string {
    const now = new Date();
    const delivery = {
      id: this.parts.newId(),
      sandboxId: event.sandboxId ?? "",
      executionId: event.facts.execution_id ?? "",
      createdAt: now,
    };
    deliveries.add(delivery, callback, keyId, id);
    const payload = JSON.stringify(eventOnWire(event, this.parts.events));
    deliveries.change(delivery.id, {
      payload,
      status: "pending",
      queuedAt: now,
      nextAttemptAt: now,
      attempts: 0,
    });
    return delivery.id;
  }
}

function onWire({ id, callback, types, sandboxId, createdAt }: Subscription): ControlPlaneSchemas["Webhook"] {
  const { origin, pathname } = new URL(callback.url);
  return {
    id,
    object: "webhook",
    url: origin + pathname,
    ...(types && { types: [...types] }),
    ...(sandboxId !== undefined && { sandbox_id: sandboxId }),
    signed: callback.secret !== undefined,
    created_at: createdAt.toISOString(),
  };
}

const notSent = (): Problem =>
  new Problem(400, "INVALID_REQUEST", "types has sandbox.metrics, which webhooks do not send.", {
    hint: "Follow the events of the sandbox for its metrics.",
    details: { field: "types" },
  });

const tooMany = (): Problem =>
  new Problem(
    429,
    "RESOURCE_LIMIT_ERROR",
    `This API key has ${mostSubscriptions} webhooks, the most it may have.`,
    {
      hint: "Delete one that is no longer needed.",
      details: { limit: mostSubscriptions },
    },
  );
