import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import type { Readable } from "node:stream";
import type { Machine } from "../runtime/sandbox-runtime.js";

export interface AgentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** A stream is sent as it comes; undefined sends no body. */
  readonly body?: Readable | Buffer | string | undefined;
  readonly signal?: AbortSignal;
}

/**
 * HTTP to one machine's agent over its socket, with connections kept. No limit on waiting is set here: an execution
 * may be silent for as long as it may last.
 */
export class AgentConnection {
  readonly #connections = new Agent({ keepAlive: true });

  constructor(private readonly machine: Machine) {
    void machine.exited.then(() => this.#connections.destroy());
  }

  /** Resolves with the head of the answer; its body is a stream. */
  send({ method, path, headers, body, signal }: AgentRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const call = request({
        socketPath: this.machine.socketPath,
        agent: this.#connections,
        method,
        path,
        headers: { ...headers, ...framing(headers, body), host: "agent" },
        ...(signal && { signal }),
      });
      call.once("response", resolve);
      call.on("error", reject);
      if (body === undefined || typeof body === "string" || Buffer.isBuffer(body)) {
        call.end(body);
        return;
      }
      body.pipe(call);
      body.once("error", (error) => call.destroy(error));
    });
  }
}

/** Node frames a stream by itself only for methods that usually have a body. Unframed, it would be read as a next request. */
function framing(headers: OutgoingHttpHeaders, body: AgentRequest["body"]): OutgoingHttpHeaders {
  const isStream = body !== undefined && typeof body !== "string" && !Buffer.isBuffer(body);
  return isStream && headers["content-length"] === undefined ? { "transfer-encoding": "chunked" } : {};
}
