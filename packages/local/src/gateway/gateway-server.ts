import { createServer, type Server } from "node:http";
import { answerUnreadableRequests } from "@cloud-sandbox/server-kit";
import { envelopeAt } from "../agents/agent-target.js";
import { relayBufferBytes } from "../relay/exchange.js";

/** Milliseconds. */
export interface ServerPatience {
  /** For a request's head to arrive, from the connection on. */
  readonly head: number;
  /** For what is left of a request's body, once the request has been answered. */
  readonly rest: number;
}

const defaultPatience: ServerPatience = { head: 15_000, rest: 5000 };

/**
 * The server of everything. Whoever has not shown who he is cannot keep a connection busy for long: his head has to arrive, and
 * his request is refused before its body does. How long a body takes that somebody waits for is not limited.
 */
export function createGatewayServer(patience = defaultPatience): Server {
  const server = createServer({
    highWaterMark: relayBufferBytes,
    keepAliveTimeout: 65_000,
    requestTimeout: 0,
    headersTimeout: patience.head,
    connectionsCheckingInterval: patience.head / 5,
  });
  answerUnreadableRequests(server, envelopeAt);
  server.on("request", (request, response) => {
    response.once("finish", () => {
      if (request.complete) return;
      // Whoever it was for may have stopped reading, and the next request on this connection comes behind it.
      request.unpipe().resume();
      const timer = setTimeout(() => request.socket.destroy(), patience.rest).unref();
      request.once("close", () => clearTimeout(timer));
    });
  });
  return server;
}
