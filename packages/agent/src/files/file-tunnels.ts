import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { fileTunnel } from "@cloud-sandbox/protocol";
import { agentEnvelope, answerUnreadableRequests, Problem, switchProtocols } from "@cloud-sandbox/server-kit";
import { answer, refusal } from "../access/refusal.js";
import type { TokenVerifier } from "../access/token-verifier.js";

/** Milliseconds after which an idle tunnel is closed. Callers open another one when they need it. */
const longestIdle = 5000;

/**
 * Connections on which a client talks HTTP directly to the agent, without a gateway that parses and rewrites each
 * message. They serve file operations only, because the control plane takes part in the others.
 */
export class FileTunnels {
  readonly #server: Server;
  readonly #open = new Set<Duplex>();
  readonly #tokens: Pick<TokenVerifier, "verify">;

  constructor(
    tokens: Pick<TokenVerifier, "verify">,
    handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  ) {
    this.#tokens = tokens;
    this.#server = createServer((request, response) => {
      if (request.url?.startsWith("/files/")) void handle(request, response);
      else answer(response, refusal(filesOnly()));
    });
    answerUnreadableRequests(this.#server, () => agentEnvelope);
    this.#server.keepAliveTimeout = longestIdle;
    this.#server.requestTimeout = 0;
  }

  /**
   * Turns the connection of an upgrade request into a tunnel. Each request that comes through it carries its own
   * token.
   */
  async open(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (request.url !== fileTunnel.path) throw notHere();
      await this.#tokens.verify(request.headers.authorization);
      const connection = switchProtocols(response, fileTunnel.protocol);
      // The client disconnected while its token was verified.
      if (!connection || connection.destroyed) return;
      this.#open.add(connection);
      connection.once("close", () => this.#open.delete(connection));
      this.#server.emit("connection", connection);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      answer(response, refusal(error));
    }
  }

  close(): void {
    for (const connection of this.#open) connection.destroy();
  }
}

const notHere = () =>
  new Problem(
    404,
    "NOT_FOUND",
    `The protocol ${fileTunnel.protocol} is available only at the path ${fileTunnel.path}.`,
  );

const filesOnly = () =>
  new Problem(403, "PERMISSION_DENIED", "This connection serves only paths below /files/.", {
    hint: "Send requests for other paths on another connection.",
  });
