import { createServer, type Server } from "node:http";
import { answerUnreadableRequests } from "@cloud-sandbox/server-kit";
import { envelopeAt } from "../agents/agent-target.js";
import { relayBufferBytes } from "../relay/merging-relay.js";

export interface ServerTimeouts {
  /** Milliseconds in which a request's head must arrive, counted from the connection. */
  readonly headMs: number;
  /** Milliseconds in which the rest of a request's body must arrive, once the request has been answered. */
  readonly bodyRestMs: number;
}

const defaultTimeouts: ServerTimeouts = { headMs: 15_000, bodyRestMs: 5000 };

/**
 * The HTTP server for control plane, agents and previews. A client without credentials cannot hold a connection for long:
 * the head has a time limit, and the request is refused before its body arrives. Accepted bodies have no time limit.
 */
export function createGatewayServer(timeouts = defaultTimeouts): Server {
  const server = createServer({
    highWaterMark: relayBufferBytes,
    keepAliveTimeout: 65_000,
    requestTimeout: 0,
    headersTimeout: timeouts.headMs,
    connectionsCheckingInterval: timeouts.headMs / 5,
  });
  answerUnreadableRequests(server, envelopeAt);
  server.on("request", (request, response) => {
    response.once("finish", () => {
      if (request.complete) return;
      // Read and drop the rest of the body: its receiver may have stopped reading, and the next request follows the body.
      request.unpipe().resume();
      const timer = setTimeout(() => request.socket.destroy(), timeouts.bodyRestMs).unref();
      request.once("close", () => clearTimeout(timer));
    });
  });
  return server;
}
