import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem, targetOf } from "@cloud-sandbox/server-kit";
import { deliveryHandlers, type EventFacts, type NewEvent } from "@cloud-sandbox/server-kit/handlers";
import type { AgentRequest } from "../agents/agent-connection.js";
import type { AgentTarget } from "../agents/agent-target.js";
import { stopOfMany } from "../relay/stop-of-many.js";
import type { Store } from "../store/store.js";
import { AsyncExecutions, type StartedExecution } from "./async-executions.js";
import type { Callback } from "./callback.js";
import { DeliveryQueue } from "./delivery-queue.js";
import { DeliveryRepository, type StoredDelivery } from "./delivery-repository.js";
import { EventWebhooks } from "./event-webhooks.js";
import type { ExecutionFollower } from "./execution-follower.js";
import { SubscriptionRepository } from "./subscription-repository.js";
import { type WebhookOptions, webhookDefaults } from "./webhook-options.js";

export const newDeliveryId = (): string => `whd_${Date.now()}${randomBytes(6).toString("hex")}`;

/**
 * The limits of asynchronous executions that run or whose report is not yet delivered: with the server's own key, and with each
 * other one.
 */
const maxOpen = { own: 1000, ofKey: 250 } as const;
/** The pause before a report is saved again when the data directory is full. */
const retryMs = 1000;

interface WebhooksParts {
  readonly store: Store;
  readonly options: WebhookOptions;
  /** Sends a request to a sandbox's agent; throws the problem that says why there is no answer. */
  readonly send: (sandboxId: string, request: AgentRequest) => Promise<IncomingMessage>;
  /** The API key of a sandbox. Undefined for the server's own key, and for a sandbox that is not known. */
  readonly keyOf: (sandboxId: string) => string | undefined;
  readonly follower: ExecutionFollower;
  /** Whether an API key may still be used. */
  readonly isUsable: (keyId: string | undefined) => boolean;
  readonly log: (message: string) => void;
}

interface Opened {
  readonly deliveries: DeliveryRepository;
  readonly subscriptions: SubscriptionRepository;
  readonly queue: DeliveryQueue;
}

/** Reports the ends of asynchronous executions to their callback URLs. */
export class Webhooks {
  readonly #stopped = stopOfMany();
  readonly #executions: AsyncExecutions;
  readonly #events: EventWebhooks;
  /** The number of executions of each key that are admitted and not recorded yet. */
  readonly #starting = new Map<string | undefined, number>();
  #opened: Promise<Opened> | undefined;

  constructor(private readonly parts: WebhooksParts) {
    const { send, log, options } = parts;
    const { allowPrivateAddresses = webhookDefaults.allowPrivateAddresses } = options;
    this.#events = new EventWebhooks({
      events: parts.store.events,
      open: () => this.#open(),
      newId: newDeliveryId,
      allowPrivateAddresses,
      isUsable: parts.isUsable,
      log,
    });
    this.#executions = new AsyncExecutions({
      allowPrivateAddresses,
      send,
      admit: (sandboxId) => this.#admit(sandboxId),
      report: (execution, callback) => this.#report(execution, callback),
      log,
    });
  }

  /** The operations on webhook deliveries: reports of the sandboxes that a caller sees, and events for its webhooks. */
  handlers(sees: (sandboxId: string) => boolean, keyId?: string) {
    const isSeen = (delivery: StoredDelivery): boolean =>
      delivery.isEvent ? keyId === undefined || delivery.keyId === keyId : sees(delivery.sandboxId);
    return deliveryHandlers(async () => {
      const opened = await this.#open();
      const { deliveries } = opened;
      return {
        find: (id) => {
          const delivery = deliveries.find(id);
          return delivery && isSeen(delivery) ? delivery : undefined;
        },
        list: (filter) => deliveries.list(filter).filter(isSeen),
        redeliver: async (id) => this.#queue(opened, id, {}),
      };
    });
  }

  /** The operations on webhooks of an API key; undefined is the server's own. */
  subscriptionHandlers(keyId: string | undefined, requireSeen: (sandboxId: string) => void) {
    return this.#events.handlers(keyId, requireSeen);
  }

  /** Continues the deliveries that an earlier process left unfinished. */
  async resume(): Promise<void> {
    if (this.parts.store.directory === undefined) return;
    const opened = await this.#open();
    const { deliveries, queue } = opened;
    this.#events.resume(opened);
    for (const { id } of deliveries.list({ status: "pending" })) queue.deliver(id);
    for (const { id } of deliveries.list({ status: "waiting" })) void this.#follow(id);
  }

  /** Whether this class answers a request to an agent itself, instead of the agent. */
  handles({ method }: IncomingMessage, { path }: AgentTarget): boolean {
    return method === "POST" && targetOf({ url: path }).path === "/execute/async";
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.#executions.handle(request, response);
  }

  /** Stops all deliveries. A new process with the same data directory continues them. */
  async close(): Promise<void> {
    this.#stopped.abort();
    this.#events.close();
    const opened = await this.#opened?.catch(() => undefined);
    opened?.queue.close();
  }

  /** Counts an execution that is being started as open, until the returned function is called. */
  async #admit(sandboxId: string): Promise<() => void> {
    const { deliveries } = await this.#open();
    const keyId = this.parts.keyOf(sandboxId);
    const limit = keyId === undefined ? maxOpen.own : maxOpen.ofKey;
    const starting = this.#starting.get(keyId) ?? 0;
    if (deliveries.countOpen(keyId) + starting >= limit) {
      const message = `${limit} asynchronous executions run or wait to be reported, which is the limit of an API key.`;
      throw new Problem(429, "RESOURCE_EXHAUSTED", message, {
        hint: "Wait until some asynchronous executions are done; GET /v1/webhook-deliveries lists them.",
      });
    }
    this.#starting.set(keyId, starting + 1);
    return () => {
      const others = (this.#starting.get(keyId) ?? 1) - 1;
      if (others === 0) this.#starting.delete(keyId);
      else this.#starting.set(keyId, others);
    };
  }

  async #report({ sandboxId, executionId }: StartedExecution, callback: Callback): Promise<void> {
    const { deliveries } = await this.#open();
    const id = newDeliveryId();
    const delivery = { id, sandboxId, executionId, createdAt: new Date() };
    const keyId = this.parts.keyOf(sandboxId);
    const started = asyncEvent("execution.started", delivery, keyId);
    this.parts.store.events.record([started], () => deliveries.add(delivery, callback, keyId));
    void this.#follow(id);
  }

  async #follow(id: string): Promise<void> {
    const { signal } = this.#stopped;
    try {
      const opened = await this.#open();
      const delivery = opened.deliveries.find(id);
      if (delivery?.status !== "waiting") return;
      const report = await this.parts.follower.end(delivery, signal);
      const ended = asyncEvent("execution.ended", delivery, this.parts.keyOf(delivery.sandboxId), {
        outcome: report.status,
        exit_code: report.exit_code,
        duration_ms: Math.round(report.execution_time * 1000),
      });
      const payload = JSON.stringify(report);
      await this.#keepTrying(() =>
        this.parts.store.events.record([ended], () => this.#queue(opened, id, { payload })),
      );
    } catch (error) {
      if (!signal.aborted) this.parts.log(`Webhook delivery ${id} was not queued: ${String(error)}`);
    }
  }

  /** Repeats `work` while the data directory is full: the report exists only in memory until it is saved. */
  async #keepTrying(work: () => void): Promise<void> {
    const { signal } = this.#stopped;
    for (;;) {
      signal.throwIfAborted();
      try {
        return work();
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== "STORAGE_FULL") throw error;
        await sleep(retryMs, undefined, { signal, ref: false });
      }
    }
  }

  #queue({ deliveries, queue }: Opened, id: string, change: { readonly payload?: string }): void {
    const now = new Date();
    deliveries.change(id, { ...change, status: "pending", queuedAt: now, nextAttemptAt: now, attempts: 0 });
    queue.deliver(id);
  }

  /** Opens the database at the first use, because an embedded control plane may never need it. */
  #open(): Promise<Opened> {
    this.#opened ??= this.parts.store.database().then(
      (database) => {
        const deliveries = new DeliveryRepository(database);
        const { options, isUsable, log } = this.parts;
        const webhooks = { ...webhookDefaults, ...options };
        const subscriptions = new SubscriptionRepository(database);
        return {
          deliveries,
          subscriptions,
          queue: new DeliveryQueue({ deliveries, webhooks, isUsable, log }),
        };
      },
      (error: unknown) => {
        // The next call tries again.
        this.#opened = undefined;
        throw error;
      },
    );
    return this.#opened;
  }
}

const asyncEvent = (
  type: "execution.started" | "execution.ended",
  { sandboxId, executionId }: StartedExecution,
  keyId: string | undefined,
  facts: EventFacts = {},
): NewEvent => ({
  type,
  at: new Date(),
  sandboxId,
  keyId,
  facts: { execution_id: executionId, kind: "async", ...facts },
});
