import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Reply } from "../http/exchange.js";
import type { ContractTypes } from "./contract.js";
import { type ContractService, type ContractServiceOptions, contractService } from "./contract-service.js";

export type ContractRouterOptions<Types extends ContractTypes, Auth> = ContractServiceOptions<Types, Auth>;

/** Serves a contract over node:http. */
export interface ContractRouter {
  /** Answers a request of node:http. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  readonly answer: ContractService;
}

export function contractRouter<Types extends ContractTypes, Auth>(
  options: ContractRouterOptions<Types, Auth>,
): ContractRouter {
  const answer = contractService(options);
  return {
    answer,
    async handle(request, response) {
      await send(await answer(request, () => closeSignal(response)), response);
    },
  };
}

/** A signal that aborts when the client disconnects. Created on demand, because most handlers do not use it. */
function closeSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const abort = () => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.destroyed) abort();
  else response.once("close", abort);
  return controller.signal;
}

/** Sends a reply. If a stream fails, the connection is closed, because the status has already been sent. */
async function send({ body, headers, status }: Reply, response: ServerResponse): Promise<void> {
  if (body instanceof Readable) {
    response.writeHead(status, headers);
    if (response.req.method === "HEAD") {
      body.destroy();
      response.end();
      return;
    }
    response.flushHeaders();
    await pipeline(body, response).catch(() => response.destroy());
    return;
  }
  const hasLength = body !== undefined && status !== 204;
  response.writeHead(status, {
    ...headers,
    ...(hasLength && { "content-length": String(Buffer.byteLength(body)) }),
  });
  response.end(body);
}
