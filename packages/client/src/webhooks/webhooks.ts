import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkKnown,
  checkText,
  omitUndefined,
  requestInit,
  requireText,
} from "../config/options.js";
import { NotFoundError } from "../errors/errors.js";
import type { EventType } from "../events/events.js";
import { type ControlPlaneClient, readBody, successOf } from "../transport/contract-clients.js";

/** Options of `webhooks.subscribe`. */
export interface WebhookSubscriptionOptions extends CallOptions {
  /** With which requests are signed, so that `verifyEventWebhook` believes them. Default: they are not signed. */
  secret?: string | undefined;
  /** Only events of these types. Default: all but `sandbox.metrics`, which are not sent. */
  types?: readonly EventType[] | undefined;
  /** Only events of this sandbox, by its id. */
  sandbox?: string | undefined;
}

/** A URL that gets events. */
export interface WebhookSubscription {
  id: string;
  /** Without credentials and query. */
  url: string;
  types: EventType[] | undefined;
  sandboxId: string | undefined;
  createdAt: Date;
}

/** Sends events to URLs. An extension: on the cloud, every call is a `NotFoundError`. */
export class Webhooks {
  readonly #controlPlane: ControlPlaneClient;

  /** @internal */
  static of(controlPlane: ControlPlaneClient): Webhooks {
    return new Webhooks(controlPlane);
  }

  private constructor(controlPlane: ControlPlaneClient) {
    this.#controlPlane = controlPlane;
  }

  /**
   * Sends what `client.events` would yield from now on to a URL, each event at least once, by POST (POST /v1/webhooks). A receiver that does
   * not answer 2xx gets it again for a day. Requests may arrive in another order than that of the events. An API key has at most 20
   * webhooks, else a `ResourceLimitError`; they end with it.
   */
  async subscribe(url: string, options: WebhookSubscriptionOptions = {}): Promise<WebhookSubscription> {
    checkKnown("webhooks.subscribe", options, {
      ...callOptionNames,
      secret: true,
      types: true,
      sandbox: true,
    });
    const { secret, types, sandbox } = options;
    requireText("url", url);
    checkText("secret", secret);
    checkText("sandbox", sandbox);
    const body = { url, ...omitUndefined({ secret, types: types?.slice(), sandbox_id: sandbox }) };
    const init = { body, ...requestInit(options) };
    return readBody(this.#controlPlane.POST("/v1/webhooks", init), subscriptionOf, "id");
  }

  /** Lists the webhooks of the API key, the oldest first (GET /v1/webhooks); with the server's own key, those of all. */
  async list(options?: CallOptions): Promise<WebhookSubscription[]> {
    const pending = this.#controlPlane.GET("/v1/webhooks", callInit(options));
    return readBody(pending, ({ data }) => data.map(subscriptionOf), "data");
  }

  /** Sends no more events to a URL, nor those that wait (DELETE /v1/webhooks/{id}). Succeeds if there is no such webhook. */
  async unsubscribe(id: string, options?: CallOptions): Promise<void> {
    requireText("id", id);
    const init = { params: { path: { id } }, ...callInit(options) };
    try {
      await successOf(this.#controlPlane.DELETE("/v1/webhooks/{id}", init));
    } catch (error) {
      if (!(error instanceof NotFoundError && error.code === "WEBHOOK_NOT_FOUND")) throw error;
    }
  }
}

function subscriptionOf(wire: ControlPlaneSchemas["Webhook"]): WebhookSubscription {
  return {
    id: wire.id,
    url: wire.url,
    types: wire.types,
    sandboxId: wire.sandbox_id,
    createdAt: new Date(wire.created_at),
  };
}
