import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as text. */
  readonly body: string;
  readonly at: number;
}

/** Answers one request. If it does nothing, the request stays unanswered. */
export type Behaviour = (response: ServerResponse, attempt: number) => void;

export const answering =
  (status: number, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end("thank you");

/** A server on loopback that records the requests it gets. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #server = createServer(async (request, response) => {
    const body = await text(request);
    this.received.push({ path: request.url ?? "", headers: request.headers, body, at: Date.now() });
    this.behave(response, this.received.length);
  });

  private constructor(public behave: Behaviour) {}

  static async start(behave: Behaviour = answering(200), port = 0): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(behave);
    receiver.#server.listen(port, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
