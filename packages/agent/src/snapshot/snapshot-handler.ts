import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { agentEnvelope, Problem } from "@cloud-sandbox/server-kit";
import type { TokenVerifier } from "../access/token-verifier.js";
import type { FileArchive } from "./file-archive.js";
import { endOtherProcesses } from "./processes.js";

/** What only the control plane may ask for; no part of the contract. */
export const internalPath = "/internal/";

/**
 * For what a sandbox is while it has no machine: its files, with the agent's own state among them. DELETE of the
 * processes ends all others; POST gives the files as a tar, PUT takes that into a fresh machine.
 */
export function snapshotHandler(parts: {
  readonly tokens: TokenVerifier;
  readonly archive: FileArchive;
  /** Whether nothing runs that the agent has started. */
  readonly isIdle: () => boolean;
  /** Reads anew what the agent keeps in files. */
  readonly takeUp: () => Promise<void>;
}): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { tokens, archive, isIdle, takeUp } = parts;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await tokens.verifyControlPlane(request.headers.authorization);
    const operation = `${request.method} ${request.url}`;
    if (operation === "DELETE /internal/processes") {
      await endOtherProcesses(isIdle);
      succeed(response);
    } else if (operation === "POST /internal/snapshot") {
      const files = await archive.save();
      response.writeHead(200, { "content-type": "application/x-tar" });
      await pipeline(files, response);
    } else if (operation === "PUT /internal/snapshot") {
      await archive.restore(request);
      await takeUp();
      succeed(response);
    } else {
      throw new Problem(404, "NOT_FOUND", "There is no such operation.");
    }
  }

  return async (request, response) => {
    try {
      await answer(request, response);
    } catch (error) {
      refuse(response, error);
    }
  };
}

function succeed(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" }).end('{"success":true}');
}

/** Once the head is out, a failure can only be shown by breaking off. */
function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const reason = error instanceof Error ? error.message : String(error);
  const problem = error instanceof Problem ? error : new Problem(409, "FILE_OPERATION_FAILED", reason);
  const body = agentEnvelope(problem, { requestId: "", timestamp: new Date().toISOString() });
  response.writeHead(problem.status, { "content-type": "application/json", ...problem.headers });
  response.end(JSON.stringify(body));
}
