import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { fileTunnel } from "@cloud-sandbox/protocol";
import { agentEnvelope, answerUnreadableRequests, Problem, switchProtocols } from "@cloud-sandbox/server-kit";
import { answer, refusal } from "../access/refusal.js";
import type { TokenVerifier } from "../access/token-verifier.js";

/** Milliseconds. Callers open another one when they need it. */
const longestIdle = 5000;

/**
 * Connections on which the agent is spoken to by the caller himself, without a gateway that reads and writes each message
 * again. They are for files only: the control plane has a part in other operations.
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

  /** Makes the connection of a request for an upgrade a tunnel. The requests that come through it name their token themselves. */
  async open(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (request.url !== fileTunnel.path) throw notHere();
      await this.#tokens.verify(request.headers.authorization);
      const connection = switchProtocols(response, fileTunnel.protocol);
      // Who left while his token was looked at.
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
  new Problem(404, "NOT_FOUND", `${fileTunnel.protocol} is spoken at ${fileTunnel.path} only.`);

const filesOnly = () =>
  new Problem(403, "PERMISSION_DENIED", "This connection is for what is below /files/.", {
    hint: "Use another one.",
  });
