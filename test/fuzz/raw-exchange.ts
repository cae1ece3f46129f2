import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { FuzzRequest } from "./request-arbitrary.js";

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly milliseconds: number;
}

/** How long an answer may take, also on a machine with much other work. The longest execution takes 3 s. */
const patienceMs = 60_000;
/** A stream of events never ends, so only this part of it is read. */
const streamMs = 50;

/** Sends requests unchanged, adding only what HTTP requires. */
export class RawExchange {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });

  async send(origin: string, { method, target, headers, body }: FuzzRequest): Promise<RawAnswer> {
    const started = performance.now();
    const { hostname, port } = new URL(origin);
    const given = Object.entries(headers).filter(([, value]) => value !== undefined);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request({
        agent: this.#agent,
        hostname,
        port,
        method,
        path: target,
        headers: { ...(body && { "content-length": body.length }), ...Object.fromEntries(given) },
        timeout: patienceMs,
      });
      outgoing.once("response", resolve).once("error", reject);
      outgoing.once("timeout", () => outgoing.destroy(new Error(`No answer within ${patienceMs} ms`)));
      outgoing.end(body);
    });
    const bytes = await received(response);
    const milliseconds = performance.now() - started;
    return { status: response.statusCode ?? 0, headers: response.headers, body: bytes, milliseconds };
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function received(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  if (!response.headers["content-type"]?.startsWith("text/event-stream")) {
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
  response.on("data", (chunk: Buffer) => chunks.push(chunk));
  response.on("error", () => undefined);
  await new Promise((resolve) => {
    response.once("end", resolve);
    setTimeout(resolve, streamMs);
  });
  response.destroy();
  return Buffer.concat(chunks);
}
