import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import { deliveryHandlers } from "@cloud-sandbox/server-kit/handlers";
import type { AgentRequest } from "../agents/agent-connection.js";
import type { AgentTarget } from "../agents/agent-target.js";
import type { Store } from "../store/store.js";
import { AsyncExecutions, type StartedExecution } from "./async-executions.js";
import type { Callback } from "./callback.js";
import { newDeliveryId } from "./delivery.js";
import { DeliveryQueue } from "./delivery-queue.js";
import { DeliveryRepository } from "./delivery-repository.js";
import { ExecutionFollower } from "./execution-follower.js";
import { type WebhookOptions, webhookDefaults } from "./webhook-options.js";

/** Executions that run, and reports that are to be delivered. */
const maxOpen = 1000;
/** Milliseconds until it is tried again to keep what there was no room for. */
const retryMs = 1000;

export interface WebhooksParts {
  readonly store: Store;
  readonly options: WebhookOptions;
  /** Sends a request to a sandbox's agent; throws the problem that says why it is not answered. */
  readonly send: (sandboxId: string, request: AgentRequest) => Promise<IncomingMessage>;
  /** A token of the control plane's own for a sandbox. */
  readonly token: (sandboxId: string) => Promise<string>;
  readonly log: (message: string) => void;
}

interface Opened {
  readonly deliveries: DeliveryRepository;
  readonly queue: DeliveryQueue;
}

/** Reports the ends of asynchronous executions to the URLs that were given for that. */
export class Webhooks {
  readonly handlers;
  readonly #executions: AsyncExecutions;
  readonly #follower: ExecutionFollower;
  readonly #stopped = new AbortController();
  #opened: Promise<Opened> | undefined;

  constructor(private readonly parts: WebhooksParts) {
    const { send, token, log } = parts;
    const allowPrivateAddresses =
      parts.options.allowPrivateAddresses ?? webhookDefaults.allowPrivateAddresses;
    this.#executions = new AsyncExecutions({
      allowPrivateAddresses,
      send,
      admit: () => this.#admit(),
      report: (execution, callback) => this.#report(execution, callback),
      log,
    });
    this.#follower = new ExecutionFollower(async (sandboxId, path, signal) =>
      send(sandboxId, {
        method: "GET",
        path,
        headers: { authorization: `Bearer ${await token(sandboxId)}` },
        signal,
      }),
    );
    this.handlers = deliveryHandlers({
      deliveries: async () => (await this.#open()).deliveries,
      redeliver: (id) => this.#queue(id, {}),
    });
  }

  /** Goes on with what an earlier process has left. */
  async resume(): Promise<void> {
    if (this.parts.store.directory === undefined) return;
    const { deliveries, queue } = await this.#open();
    for (const { id } of deliveries.list({ status: "pending" })) queue.deliver(id);
    for (const { id } of deliveries.list({ status: "waiting" })) void this.#follow(id);
  }

  /** Whether a request to an agent is answered here. */
  handles(request: IncomingMessage, target: AgentTarget): boolean {
    return this.#executions.handles(request, target);
  }

  handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    return this.#executions.handle(request, response);
  }

  /** Stops where it is; a new process with the same store goes on. */
  async close(): Promise<void> {
    this.#stopped.abort();
    (await this.#opened)?.queue.close();
  }

  async #admit(): Promise<void> {
    const { deliveries } = await this.#open();
    if (deliveries.countOpen() < maxOpen) return;
    const message = `${maxOpen} asynchronous executions run, or wait to be reported, the most at a time. Wait until some are done; GET /v1/webhook-deliveries lists them.`;
    throw new Problem(429, "RESOURCE_EXHAUSTED", message);
  }

  async #report({ sandboxId, executionId }: StartedExecution, callback: Callback): Promise<void> {
    const { deliveries } = await this.#open();
    const id = newDeliveryId();
    deliveries.add({ id, sandboxId, executionId, createdAt: new Date() }, callback);
    void this.#follow(id);
  }

  async #follow(id: string): Promise<void> {
    const { signal } = this.#stopped;
    try {
      const delivery = (await this.#open()).deliveries.find(id);
      if (delivery?.status !== "waiting") return;
      const payload = JSON.stringify(await this.#follower.end(delivery, signal));
      await this.#keepTrying(() => this.#queue(id, { payload }));
    } catch (error) {
      if (!signal.aborted) this.parts.log(`Webhook delivery ${id} was not queued: ${String(error)}`);
    }
  }

  /** What is to be reported is known here alone until the store has it. */
  async #keepTrying(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopped;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== "STORAGE_FULL") throw error;
        await sleep(retryMs, undefined, { signal, ref: false });
      }
    }
  }

  async #queue(id: string, change: { readonly payload?: string }): Promise<void> {
    const { deliveries, queue } = await this.#open();
    const now = new Date();
    deliveries.change(id, { ...change, status: "pending", queuedAt: now, nextAttemptAt: now, attempts: 0 });
    queue.deliver(id);
  }

  /** Not before it is needed: a program's own control plane may never be. */
  #open(): Promise<Opened> {
    this.#opened ??= this.parts.store.database().then((database) => {
      const deliveries = new DeliveryRepository(database);
      const webhooks = { ...webhookDefaults, ...this.parts.options };
      return { deliveries, queue: new DeliveryQueue({ deliveries, webhooks, log: this.parts.log }) };
    });
    return this.#opened;
  }
}
